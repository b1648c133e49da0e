export { alarmSettings, SENDER_ALARM_DEFAULTS } from './alarms/alarm-options.ts';
export { AlarmWatch } from './alarms/alarm-watch.ts';
export { helpOf } from './alarms/alarm.ts';
export {
  ENDPOINT_ALARM_RULES,
  type EndpointAlarmRule,
  type EndpointReading,
} from './alarms/endpoint-alarm-rules.ts';
export { Alarm } from './time/alarm.ts';
export { BusiestNames } from './windows/busiest-names.ts';
export { SliceClock } from './windows/slice-clock.ts';
export { SlicedFigures } from './windows/sliced-figures.ts';
export { COUNTS, HISTOGRAMS, type Count } from './windows/tally.ts';
export { Listeners, type EventBody } from './delivery/events.ts';
export { GroupCommit } from './inbox/store-calls/group-commit.ts';
export { Scheduler, type Task } from './inbox/time/scheduler.ts';
export { WallTime } from './inbox/time/wall-time.ts';
export { MinHeap, type Heaped } from './base/min-heap.ts';
export { Deadlines, NO_DEADLINE, type Timed } from './time/deadlines.ts';
export { monotonic } from './time/clock.ts';
export { checkInteger, checkNumber, checkOneOf, isRecord, DAY_MS } from './checks.ts';
export { invalid, show } from './errors.ts';
