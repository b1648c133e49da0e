export { Listeners, type EventBody } from './delivery/events.ts';
export { GroupCommit } from './inbox/store-calls/group-commit.ts';
export { Scheduler, type Task } from './inbox/time/scheduler.ts';
export { WallTime } from './inbox/time/wall-time.ts';
export { MinHeap, type Heaped } from './base/min-heap.ts';
export { Deadlines, NO_DEADLINE, type Timed } from './time/deadlines.ts';
export { monotonic } from './time/clock.ts';
export { checkInteger, checkNumber, checkOneOf, isRecord, DAY_MS } from './checks.ts';
export { invalid, show } from './errors.ts';
