import { invalid, shared } from '@webhook-backpressure/base';
import type { Intake } from '@webhook-backpressure/core';
import { observeHandleOf } from '@webhook-backpressure/core/extend';
import { IntakeObservation, type Observation, type ObserveOptions } from './observation.ts';

const observations = shared('observations', () => new WeakMap<Intake, Observation>());

/**
 * Measures the windows of an intake and judges its alarms, from this call until the intake has closed. Alarms are events
 * of the intake. An intake has one observation: a later call returns the same one, with its options changed by those given.
 * `logEvents`, the metric exporters and the dashboard make this call too.
 *
 * Alarms are judged at each `read` and `update` and, while a delivery is queued or active, every 5 s, by a timer that
 * keeps no process alive.
 *
 * @param intake - of `createIntake` or of a middleware.
 * @throws BackpressureError `ERR_WBP_OBSERVE`, `ERR_WBP_ALARMS` or `ERR_WBP_UNKNOWN_OPTION` for an invalid argument.
 */
export function observe(intake: Intake, options: ObserveOptions = {}): Observation {
  const observation = observationOf(intake, options);
  if (observation === undefined)
    throw invalid('ERR_WBP_OBSERVE', 'intake', 'an intake of createIntake() or of a middleware', intake);
  return observation;
}

/** See {@link observe}. Undefined for anything but an intake of this package. */
export function observationOf(intake: unknown, options: ObserveOptions = {}): Observation | undefined {
  const handle = observeHandleOf(intake);
  if (handle === undefined) return undefined;
  const own = intake as Intake;
  let observation = observations.get(own);
  if (observation === undefined) observations.set(own, (observation = new IntakeObservation(own, handle)));
  observation.update(options);
  return observation;
}
