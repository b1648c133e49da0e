import type { EventBody } from '../delivery/events.ts';
import type { FleetSnapshot } from '../delivery/fleet-snapshot.ts';
import type { Warnings } from '../delivery/warnings.ts';
import type { RetryAfterSeconds } from '../refusals/retry-after.ts';
import type { Situation } from '../refusals/situation.ts';
import type { Clock } from '@webhook-backpressure/base';
import type { Intake } from './intake.ts';
import type { Settings, Tunable } from './options.ts';

/** The limits of an intake that a fleet shares. */
export type FleetLimits = Pick<Settings, 'concurrency' | 'maxStartsPerSecond'>;

/** What a fleet reads and changes in an intake. */
export interface FleetHandle {
  readonly clock: Clock;
  /** The monotonic time of the intake, in milliseconds. */
  now(): number;
  readonly random: () => number;
  readonly isOpen: boolean;
  /** How many deliveries it could handle concurrently now, if its share allowed it. */
  readonly wanted: number;
  /**
   * How many deliveries are active: more than its share while it shrinks. 0 in a dry run, whose limits hold nothing back:
   * it must not keep the others from growing.
   */
  readonly active: number;
  readonly limits: FleetLimits;
  readonly warnings: Warnings;
  /** The membership of the intake, or null. */
  readonly member: FleetMembership | null;
  /** Books the retries of refused deliveries. */
  readonly retryAfter: RetryAfterSeconds;
  /** What it books by. */
  situation(nowMs: number): Situation;
  /** Begins the membership. */
  join(member: FleetMembership): void;
  /** Ends the membership. */
  part(): void;
  /** Changes limits, without asking the member and without an event. */
  limit(limits: Tunable): void;
  report(event: EventBody): void;
}

/** What an intake asks its membership. */
export interface FleetMembership {
  /** What becomes of an update by the user. */
  revise(changes: Tunable): Tunable;
  snapshot(): FleetSnapshot;
  /** Called when the intake has closed, which resolves afterwards. Never rejects. */
  leave(): Promise<void>;
}

/** The handle of an intake of this package; undefined for any other value. */
export function fleetHandleOf(intake: Intake): FleetHandle | undefined {
  // Not instanceof: an application may load this package twice, as ES module and as CommonJS.
  const { fleetHandle } = (intake as { fleetHandle?: () => FleetHandle } | undefined | null) ?? {};
  return typeof fleetHandle === 'function' ? fleetHandle.call(intake) : undefined;
}
