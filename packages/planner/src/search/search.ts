import type { Configuration, Outcome, PlannedOptions } from './plan.ts';
import { type Request, maxStartsOf } from './request.ts';
import type { Trial, Trials } from './trials.ts';

/** Smaller differences are chance, and do not justify an option. Parts of the other's figure. */
const LOST_PART = 0.05;
const ATTEMPTS_PART = 0.1;
const DELAY_PART = 0.1;
/** Part of all deliveries. */
const LOST_OF_ALL = 0.0005;

/** How many senders switch the endpoint off. */
function switchedOff({ senders }: Outcome): number {
  return senders.filter((sender) => sender.switchedOff).length;
}

export function losesNothing(outcome: Outcome): boolean {
  return outcome.lost === 0 && switchedOff(outcome) === 0;
}

/** Whether each delivery is handled at its first attempt. */
function refusesNothing(outcome: Outcome): boolean {
  return losesNothing(outcome) && outcome.attemptsPerEvent === 1;
}

/**
 * Whether the outcome of `one` is better: fewer lost deliveries, then fewer senders that switch the endpoint off, then
 * fewer attempts, then a shorter delay.
 */
export function isBetter({ outcome: one }: Trial, { outcome: other }: Trial): boolean {
  const leastLost = Math.max(LOST_PART * other.lost, LOST_OF_ALL * other.events);
  const isAnyLoss = one.lost === 0 || other.lost === 0;
  if (differs(one.lost, other.lost, isAnyLoss ? 0 : leastLost)) return one.lost < other.lost;
  if (switchedOff(one) !== switchedOff(other)) return switchedOff(one) < switchedOff(other);
  // While deliveries are lost, the attempts and delays are those of the others.
  if (one.lost > 0) return false;
  const attempts = [one.attemptsPerEvent, other.attemptsPerEvent] as const;
  if (differs(...attempts, ATTEMPTS_PART * other.attemptsPerEvent)) return attempts[0] < attempts[1];
  const delays = [one.delayS.p99 ?? Infinity, other.delayS.p99 ?? Infinity] as const;
  return differs(...delays, DELAY_PART * delays[1]) && delays[0] < delays[1];
}

function differs(one: number, other: number, least: number): boolean {
  return one !== other && !(Math.abs(one - other) <= least);
}

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
type Dimension = (best: Trial) => PlannedOptions[];

/** The options of an intake that are searched, those with the largest effect first. */
function holdDimensions(request: Request): Dimension[] {
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
function inboxDimensions(request: Request): Dimension[] {
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
  const drainRate = maxStartsOf(request, request.concurrency) / request.receivers;
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

/** What the search found. */
export interface Found {
  readonly nothing: Trial;
  readonly defaults: Trial;
  readonly bestHold: Trial;
  readonly bestInbox: Trial;
  readonly recommended: Trial;
  /** With the least concurrency that was tried and with which holding requests loses nothing, if holding loses any. */
  readonly enough: Trial | undefined;
}

/** Higher concurrency that is tried if holding requests loses deliveries. */
const FACTORS = [2, 4, 8];

/**
 * Searches the options: from the defaults, one option after the other, each time keeping the best value. It ends when the
 * budget of the trials is used up.
 */
export async function search(request: Request, trials: Trials): Promise<Found> {
  const given: PlannedOptions = {
    ...(request.capacity === undefined ? {} : { capacity: request.capacity }),
    ...(request.maxWaitMs === undefined ? {} : { maxWaitMs: request.maxWaitMs }),
  };
  const { concurrency, mode } = request;
  const nothing = await trials.of({ mode: 'none', options: {}, concurrency });
  // The limits of a queue of requests would be far too small for an inbox, and the reverse.
  const hold = await trials.of({ mode: 'hold', options: mode === 'inbox' ? {} : given, concurrency });
  const inbox = await trials.of({ mode: 'inbox', options: mode === 'inbox' ? given : {}, concurrency });

  const bestHold = mode === 'inbox' ? hold : await improve(hold, holdDimensions(request), trials);
  const isInboxSearched = mode === 'inbox' || (mode === undefined && !losesNothing(bestHold.outcome));
  const bestInbox = isInboxSearched ? await improve(inbox, inboxDimensions(request), trials) : inbox;
  const recommended = choose(mode, bestHold, bestInbox);
  return {
    nothing,
    defaults: mode === 'inbox' ? inbox : hold,
    bestHold,
    bestInbox,
    recommended,
    enough: losesNothing(bestHold.outcome)
      ? undefined
      : await enoughConcurrency(bestHold.configuration, trials),
  };
}

/** Holding requests needs no store, so it is recommended unless the inbox loses less. */
function choose(mode: Request['mode'], hold: Trial, inbox: Trial): Trial {
  if (mode !== undefined) return mode === 'hold' ? hold : inbox;
  if (losesNothing(hold.outcome)) return hold;
  return isBetter(inbox, hold) ? inbox : hold;
}

/** Keeps the best value of one option after the other. A configuration that refuses nothing needs no other options. */
async function improve(start: Trial, dimensions: readonly Dimension[], trials: Trials): Promise<Trial> {
  let best = start;
  if (refusesNothing(start.outcome)) return best;
  for (const dimension of dimensions) {
    const base = best.configuration;
    for (const options of dimension(best)) {
      if (!trials.mayContinue) return best;
      const trial = await trials.of({ ...base, options: { ...base.options, ...options } });
      if (isBetter(trial, best)) best = trial;
    }
  }
  return best;
}

async function enoughConcurrency(configuration: Configuration, trials: Trials): Promise<Trial | undefined> {
  for (const factor of FACTORS) {
    if (!trials.mayContinue) return undefined;
    const trial = await trials.of({ ...configuration, concurrency: factor * configuration.concurrency });
    if (losesNothing(trial.outcome)) return trial;
  }
  return undefined;
}
