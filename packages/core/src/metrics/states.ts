import type { IntakeState } from '../delivery/snapshot.ts';

const ALL: Readonly<Record<IntakeState, true>> = {
  accepting: true,
  shedding: true,
  stalled: true,
  closing: true,
  closed: true,
};

/** The states of an intake or inbox. */
export const STATES: readonly string[] = Object.keys(ALL);
