import type { Request } from '../request/read-request.ts';
import { drainRateOf } from './arrivals.ts';
import type { PlannedOptions } from './configuration.ts';
import { losesNothing } from './ranking.ts';
import type { Trial } from './trials.ts';

/** The part of a sender's timeout that is left for the handler and the response, as in the middleware. */
const MARGIN = 0.2;
/** Room in the queue for drain rates above the average. */
const ROOM = 1.25;
const DEFAULT_MAX_WAIT_MS = 10_000;
const DEFAULT_CAPACITY = 1000;
const DEFAULT_INBOX_CAPACITY = 100_000;
/** The part of the inbox's capacity above which it refuses. */
const HIGH_WATER_MARK = 0.8;

/** The values of one option to try, each as the changes that it makes to the best configuration so far. */
export type Dimension = (best: Trial) => PlannedOptions[];

/** The options of an intake that are searched, those with the largest effect first. */
export function holdDimensions(request: Request): Dimension[] {
  const { capacity, maxWaitMs } = request;
  const dimensions: Dimension[] = [];
  if (maxWaitMs === undefined) dimensions.push(() => waitsOf(request).map((ms) => ({ maxWaitMs: ms })));
  if (capacity === undefined) dimensions.push((best) => capacitiesFor(request, best.configuration.options));
  // The reserve is for deliveries that would be lost.
  dimensions.push(({ outcome }) =>
    losesNothing(outcome) ? [] : [{ highWaterMark: 0.6 }, { highWaterMark: 0.95 }],
  );
  if (anyHonorsRetryAfter(request)) dimensions.push(() => [maxSeconds(600), maxSeconds(7200)]);
  return dimensions;
}

/** The options of an inbox that are searched. */
export function inboxDimensions(request: Request): Dimension[] {
  const dimensions: Dimension[] = [];
  const needed = roundUp(((request.burst?.events ?? 0) * ROOM) / HIGH_WATER_MARK);
  const isGiven = request.mode === 'inbox' && request.capacity !== undefined;
  if (!isGiven && needed > DEFAULT_INBOX_CAPACITY) dimensions.push(() => [{ capacity: needed }]);
  if (anyHonorsRetryAfter(request)) dimensions.push(() => [maxSeconds(7200)]);
  return dimensions;
}

/** The longest waits that senders of the request allow, longest first. */
function waitsOf({ senders, timeoutMs }: Request): number[] {
  const waits = senders.map(({ profile }) => Math.floor((1 - MARGIN) * (profile.timeoutMs ?? timeoutMs)));
  return [...new Set(waits)]
    .filter((ms) => ms >= 1 && ms !== DEFAULT_MAX_WAIT_MS)
    .sort((a, b) => b - a)
    .slice(0, 3);
}

/** As many deliveries as can be handled within the longest wait, with some room. */
function capacitiesFor(
  request: Request,
  { maxWaitMs = DEFAULT_MAX_WAIT_MS }: PlannedOptions,
): PlannedOptions[] {
  const drainRate = drainRateOf(request, request.concurrency) / request.receivers;
  const needed = roundUp((ROOM * drainRate * maxWaitMs) / 1000);
  return needed > DEFAULT_CAPACITY ? [{ capacity: needed }] : [];
}

function anyHonorsRetryAfter({ senders }: Request): boolean {
  return senders.some(({ profile }) => profile.retryAfter !== 'ignored');
}

function maxSeconds(seconds: number): PlannedOptions {
  return { retryAfter: { maxSeconds: seconds } };
}

/** To two digits: 1,562 becomes 1,600. */
function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.ceil(value / unit) * unit;
}
