// For packages that extend an intake or decide as it does: the inbox, the fleet, the observation. Not public.
export type { Arrival } from './delivery/arrival.ts';
export { DEFAULT_KEY } from './delivery/delivery.ts';
export { type EventBody, Listeners, measuring } from './delivery/events.ts';
export { addUp, noRefusals } from './delivery/ledger.ts';
export { deliveryOf } from './delivery/recognized-delivery.ts';
export { createRefusal, statusOf } from './delivery/refusal.ts';
export {
  type FleetHandle,
  fleetHandleOf,
  type FleetLimits,
  type FleetMembership,
} from './intake/fleet-handle.ts';
export { type ObserveHandle, observeHandleOf } from './intake/observe-handle.ts';
export { checkMarks, FIXED, type Fixtures, resolveOptions, TUNABLE } from './intake/options.ts';
export { Limits, maxStartsOf, workersPerKey } from './limits/limits.ts';
export { effectiveCapacity, Gate, longestSpan } from './queue/gate.ts';
export { Reserve, type ReserveQueue } from './queue/reserve.ts';
export type { RefusalExchange, RefusalNews } from './refusals/fleet-exchange.ts';
export { RetryAfterSeconds } from './refusals/retry-after.ts';
export { SharedRefusals } from './refusals/shared-refusals.ts';
export type { Situation } from './refusals/situation.ts';
export { SwitchOff } from './refusals/switch-off.ts';
export { DrainRate } from './workers/drain-rate.ts';
export { Pacer } from './workers/pacer.ts';
