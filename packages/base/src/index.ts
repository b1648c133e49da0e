export { abortController, type Controller, type Signal, timeoutError, unlessAborted } from './abort.ts';
export { boundToThisContext } from './async-context.ts';
export {
  type Awaitable,
  checkBoolean,
  checkFunction,
  checkInteger,
  checkNumber,
  checkOneOf,
  checkUpTo,
  DAY_MS,
  isRecord,
  requireSync,
} from './checks.ts';
export {
  BackpressureError,
  type BackpressureErrorCode,
  framesOfCaller,
  invalid,
  invalidResult,
} from './errors.ts';
export { isThenable, show } from './shown-values.ts';
export { Generations } from './generations.ts';
export { glanceAt, type GlanceField } from './glance.ts';
export { type Heaped, MinHeap } from './min-heap.ts';
export { checkNames, checkObject, unknownName, unknownOption } from './option-names.ts';
export {
  by,
  type Complete,
  current,
  group,
  milliseconds,
  resolve,
  type Row,
  type Rows,
  type SettingsOf,
  update,
} from './option-rows.ts';
export { parseUrl } from './parse-url.ts';
export { MAX_RETRY_AFTER_MS, RetryAfter, retryAfterMsOf } from './retry-after.ts';
export { shared } from './shared.ts';
export { Timer } from './time/timer.ts';
export { checkClock, type Clock, holdTimer, monotonic, systemClock } from './time/clock.ts';
export { errorMessageOf, readableErrors, readThrown, thrownText } from './thrown.ts';
export { inBackground, showWarning } from './warn.ts';
export { Deadlines, NO_DEADLINE, type Timed } from './time/deadlines.ts';
export { TimeLimit } from './time/time-limit.ts';
