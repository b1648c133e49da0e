import { BackpressureError, invalid } from '@webhook-backpressure/base';
import type { FleetSnapshot, Intake } from '@webhook-backpressure/core';
import { fleetHandleOf } from '@webhook-backpressure/core/extend';
import { checkFleetOptions, type FleetOptions } from './fleet-options.ts';
import { Member } from './membership.ts';

/** An intake's membership in a fleet. */
export interface Fleet {
  /**
   * Gives the share back, so that the others can take it with their next beats. The intake gets the limits that it would
   * have without the fleet. Resolves when the registry knows, or after 1 s; never rejects. Closing the intake leaves too.
   */
  leave(): Promise<void>;
  /** The fleet at this moment, as a copy. Also in the snapshot of the intake. */
  snapshot(): FleetSnapshot;
}

/**
 * Shares one limit among the intakes of many processes. Each gets a share by its demand, as its option `concurrency`. No
 * delivery waits for the registry, and none is refused if it fails.
 *
 * An update of `concurrency` or `maxStartsPerSecond` by the application is an upper bound of the share. A range stays adaptive,
 * with the share as its maximum.
 *
 * @param intake - of `createIntake` or of a middleware, not closing, and in no other fleet.
 * @throws BackpressureError `ERR_WBP_FLEET`, `ERR_WBP_CONCURRENCY`, `ERR_WBP_MAX_STARTS_PER_SECOND`, `ERR_WBP_OPTIONS` or
 * `ERR_WBP_UNKNOWN_OPTION` for an invalid argument.
 */
export function joinFleet(intake: Intake, options: FleetOptions): Fleet {
  const handle = fleetHandleOf(intake);
  if (handle === undefined)
    throw invalid('ERR_WBP_FLEET', 'intake', 'an intake of createIntake() or of a middleware', intake);
  const settings = checkFleetOptions(options);
  if (handle.member !== null)
    throw new BackpressureError('ERR_WBP_FLEET', 'The intake is in a fleet already. Leave that first.');
  if (!handle.isOpen) throw new BackpressureError('ERR_WBP_FLEET', 'The intake is closing.');
  const member = new Member(handle, settings);
  member.begin();
  return { leave: () => member.leave(), snapshot: () => member.snapshot() };
}
