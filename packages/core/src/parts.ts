// What our other packages are made of beside the public API: not public, not in the API reports, and changed in any
// release. That is safe because all packages are released together and depend on exactly this version of the core.
// Export only what two packages need.
export { alarmSettings, SENDER_ALARM_DEFAULTS } from './alarms/alarm-options.ts';
export { AlarmWatch } from './alarms/alarm-watch.ts';
export { helpOf } from './alarms/alarm.ts';
export {
  ENDPOINT_ALARM_RULES,
  type EndpointAlarmRule,
  type EndpointReading,
} from './alarms/endpoint-alarm-rules.ts';
export { LateMonitor } from './alarms/late-monitor.ts';
export { observedSnapshots } from './observe/observed-snapshots.ts';
export { Alarm } from './time/alarm.ts';
export { BusiestNames } from './windows/busiest-names.ts';
export { SliceClock } from './windows/slice-clock.ts';
export { SlicedFigures } from './windows/sliced-figures.ts';
export { COUNTS, HISTOGRAMS, type Count } from './windows/tally.ts';
export { Listeners, type EventBody } from './delivery/events.ts';
export { deliveryOf } from './delivery/recognized-delivery.ts';
export { deadLetters } from './inbox/admin/dead-letters.ts';
export { Redriving } from './inbox/admin/redriving.ts';
export { FinishedUsage } from './inbox/capacity/finished-usage.ts';
export { errorMessageOf } from './inbox/events/error-message.ts';
export { ProcessWarnings, withCode } from './inbox/events/process-warnings.ts';
export { storedBytes } from './inbox/delivery/stored-bytes.ts';
export { Maintenance } from './inbox/maintenance/maintenance.ts';
export { Retention } from './inbox/maintenance/retention.ts';
export { GroupCommit } from './inbox/store-calls/group-commit.ts';
export { nextTurn } from './inbox/store-calls/next-turn.ts';
export { MAX_RECEIVING_DELAY_MS, StoreHealth } from './inbox/store-calls/store-health.ts';
export { StoreOpening } from './inbox/store-calls/store-opening.ts';
export { Scheduler, type Task } from './inbox/time/scheduler.ts';
export { WallTime } from './inbox/time/wall-time.ts';
export { LEASE_MS } from './inbox/work/claimer.ts';
export { LeaseRenewal, type Leased } from './inbox/work/lease-renewal.ts';
export { MinHeap, type Heaped } from './base/min-heap.ts';
export { Deadlines, NO_DEADLINE, type Timed } from './time/deadlines.ts';
export { LocalBuckets } from './buckets/local-buckets.ts';
export { TokenLevel } from './buckets/token-level.ts';
export { holdTimer, monotonic } from './time/clock.ts';
export {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkNumber,
  checkOneOf,
  isRecord,
  DAY_MS,
} from './checks.ts';
export { invalid, isThenable, show } from './errors.ts';
export { checkNames, unknownName } from './option-names.ts';
export { by, milliseconds, resolve, type Complete, type Rows } from './option-rows.ts';
export { resolveSenders } from './senders/resolve-senders.ts';
export { checkClock } from './time/check-clock.ts';
export { isInboxStore } from './inbox/store/as-inbox-store.ts';
export { checkJson, NotJsonError } from './inbox/delivery/json.ts';
