import type { IntakeState } from '@webhook-backpressure/core';
import type { SenderSnapshot } from '../outbox/sender-snapshot.ts';

const ALL: Readonly<Record<IntakeState, true>> = {
  accepting: true,
  shedding: true,
  stalled: true,
  closing: true,
  closed: true,
};

/** The states of an intake or inbox. */
export const STATES: readonly string[] = Object.keys(ALL);

const ALL_OF_SENDER: Readonly<Record<SenderSnapshot['state'], true>> = {
  opening: true,
  accepting: true,
  full: true,
  closing: true,
  closed: true,
};

/** The states of a sender. */
export const SENDER_STATES: readonly string[] = Object.keys(ALL_OF_SENDER);
