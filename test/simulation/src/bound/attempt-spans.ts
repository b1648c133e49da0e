import type { Sender } from '@webhook-backpressure/planner/parts';

/** Each attempt is later than the one before it, until the window of the sender ends. */
const MIN_GROWTH_MS = 1;

/** A span of time after the first attempt of a delivery, in ms. `toMs` may be Infinity. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Longer than any sender waits. */
const MAX_S = 1e9;
/** Halvings of {@link MAX_S} down to a millionth of a second. */
const HALVINGS = 50;

/**
 * The spans in which a delivery of this sender can be with the receiver, at most: those of all attempts, in order and
 * merged where they overlap. The receiver may answer whenever it wants until the sender's timeout, with the status and
 * the Retry-After of its choice, and the sender's random spread is the one it would wish for. So a span begins with the
 * earliest possible time of its attempt, and ends with the timeout of an attempt at the latest possible time.
 *
 * @param untilMs - a span that reaches this far after the first attempt is endless, and no later attempt matters.
 */
export function attemptSpans(sender: Sender, untilMs: number): Span[] {
  const { timeoutMs, maxAttempts } = sender;
  const answerMs = timeoutMs === 0 ? Infinity : timeoutMs;
  const spans: Span[] = [];
  let [earliestMs, latestMs] = [0, 0];
  for (let attempts = 1; ; attempts += 1) {
    const toMs = latestMs + answerMs;
    const isEndless = toMs >= untilMs;
    add(spans, { fromMs: earliestMs, toMs: isEndless ? Infinity : toMs });
    if (isEndless || earliestMs >= untilMs || attempts === maxAttempts) return spans;
    const next = nextAttempt(sender, attempts, { fromMs: earliestMs, toMs: latestMs });
    // A sender that may retry immediately has no last attempt, but the end of its window is the end of its spans.
    if (next === undefined || next.toMs - latestMs < MIN_GROWTH_MS) return spans;
    [earliestMs, latestMs] = [next.fromMs, next.toMs];
  }
}

function add(spans: Span[], span: Span): void {
  const last = spans.at(-1);
  if (last === undefined || last.toMs < span.fromMs) spans.push(span);
  else spans[spans.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, span.toMs) };
}

/** When the next attempt can begin if this one can begin in `span`; undefined if the sender gives up. */
function nextAttempt({ retry, timeoutMs }: Sender, attempts: number, span: Span): Span | undefined {
  const ageS = { least: span.fromMs / 1000, most: (span.toMs + timeoutMs) / 1000 };
  let [fromS, toS] = [Infinity, -Infinity];
  for (const status of [429, 503, undefined] as const) {
    // A timeout takes its time. An answer may come immediately.
    const earliestS = ageS.least + (status === undefined ? timeoutMs / 1000 : 0);
    const wait = (atS: number, retryAfterS: number | undefined, spread: 0 | 1): number | undefined =>
      retry({ attempts, status, ageS: atS, retryAfterS }, () => spread);
    for (const retryAfterS of status === undefined ? [undefined] : [undefined, 0, 1]) {
      const leastS = wait(earliestS, retryAfterS, 0);
      if (leastS === undefined) continue;
      fromS = Math.min(fromS, earliestS + leastS);
      // The sender may give up at some age.
      const oldestS = largest(earliestS, ageS.most, (at) => wait(at, retryAfterS, 1) !== undefined);
      toS = Math.max(toS, oldestS + (wait(oldestS, retryAfterS, 1) ?? leastS));
    }
    if (status === undefined) continue;
    // Or if Retry-After is too long.
    for (const atS of [ageS.least, ageS.most]) {
      if (wait(atS, 0, 1) === undefined) continue;
      const longestS = largest(0, MAX_S, (retryAfterS) => wait(atS, retryAfterS, 1) !== undefined);
      toS = Math.max(toS, atS + (wait(atS, longestS, 1) ?? 0));
    }
  }
  return fromS === Infinity ? undefined : { fromMs: fromS * 1000, toMs: toS * 1000 };
}

/** The largest value from `low`, for which it holds, to `high`. It holds up to there, and for none beyond. */
function largest(low: number, high: number, holds: (value: number) => boolean): number {
  if (holds(high)) return high;
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
