import { adviceFor } from '@webhook-backpressure/senders';
import { duration, grouped } from '../base/format.ts';
import type { Configuration, Outcome } from './plan.ts';
import { type Request, maxStartsOf, durationS, isOverloaded } from './request.ts';
import { losesNothing, type Found } from './search.ts';
import { COMMIT_MS, type Trial, type Played } from './trials.ts';

/** Why the configuration is recommended. Sentences. */
export function reasonsFor(
  request: Request,
  { recommended, defaults, bestHold, bestInbox, enough }: Found,
): string[] {
  const { mode } = recommended.configuration;
  const isInboxBetter = mode === 'inbox' && request.mode === undefined;
  const reasons: string[] = [];
  if (recommended === defaults) {
    const result = losesNothing(defaults.outcome) ? 'lose nothing' : lossOf(defaults.outcome);
    reasons.push(`${baseOf(defaults)} ${result}, and no option that was tried does clearly better.`);
  } else if (isInboxBetter) {
    reasons.push(
      `Holding requests ${losing(bestHold.outcome)}, with the best options found.`,
      ...causesOf(request, bestHold.outcome),
      `The inbox ${losing(recommended.outcome)}: it stores a delivery, acknowledges it, and handles it later.`,
    );
  } else {
    reasons.push(
      `${baseOf(defaults)}: ${summaryOf(defaults.outcome)}. These options: ${summaryOf(recommended.outcome)}.`,
    );
  }
  reasons.push(...effectsOf(request, recommended.configuration));
  if (!isInboxBetter && !losesNothing(recommended.outcome))
    reasons.push(...causesOf(request, recommended.outcome));
  const [heldS, storedS] = [recommended.outcome.delayS.p99, bestInbox.outcome.delayS.p99];
  if (mode === 'hold' && losesNothing(bestInbox.outcome) && storedS !== null && 2 * storedS < (heldS ?? 0)) {
    reasons.push(
      `The inbox would reduce the p99 of the delay to ${duration(storedS)}, because no delivery waits for its retry.`,
    );
  }
  if (enough !== undefined) {
    const { concurrency } = enough.configuration;
    reasons.push(
      `With concurrency: ${grouped(concurrency)}, holding requests loses nothing: only if the resources of your ` +
        'handlers allow it.',
    );
  }
  return reasons;
}

/** The options with which the search began. */
function baseOf({ configuration }: Trial): string {
  return Object.keys(configuration.options).length === 0 ? 'The defaults' : 'The given options';
}

/** What the recommended options do. Options that the request sets have no reason here. */
function effectsOf(request: Request, { mode, options }: Configuration): string[] {
  const { capacity, maxWaitMs, highWaterMark, retryAfter } = options;
  const effects: string[] = [];
  if (maxWaitMs !== undefined && request.maxWaitMs === undefined)
    effects.push(`maxWaitMs: ${String(maxWaitMs)} is four fifths of the timeout of a sender.`);
  if (capacity !== undefined && request.capacity === undefined)
    effects.push(
      mode === 'inbox'
        ? `capacity: ${String(capacity)} holds the burst below the high-water mark.`
        : `capacity: ${String(capacity)} holds the deliveries that can be handled within the longest wait, and a quarter more.`,
    );
  if (highWaterMark !== undefined)
    effects.push(
      `highWaterMark: ${String(highWaterMark)} leaves a ${highWaterMark < DEFAULT_HIGH_WATER_MARK ? 'larger' : 'smaller'} ` +
        'reserve for senders that never retry.',
    );
  if (retryAfter !== undefined)
    effects.push(
      `retryAfter.maxSeconds: ${String(retryAfter.maxSeconds)} limits how far ahead retries are asked for.`,
    );
  return effects;
}

const DEFAULT_HIGH_WATER_MARK = 0.8;

/** What you should know beside the recommendation. Sentences. */
export function warningsFor(request: Request, { nothing, recommended }: Found): string[] {
  const warnings: string[] = [];
  const { normalPerSecond, concurrency } = request;
  if (isOverloaded(request)) {
    const drainRate = grouped(Math.round(maxStartsOf(request, concurrency)));
    warnings.push(
      `The ordinary traffic of ${grouped(normalPerSecond)}/s alone takes all that ${grouped(concurrency)} handlers can ` +
        `do, ${drainRate}/s: the queue never empties, with any options. The figures are those of ` +
        `${duration(durationS(request))} of it: a longer overload loses more.`,
    );
  }
  if (nothing.outcome.lost < recommended.outcome.lost)
    warnings.push(
      `Without the middleware fewer are lost: ${grouped(nothing.outcome.lost)}. Use the inbox, or more handlers.`,
    );
  const off = recommended.outcome.senders.filter((sender) => sender.switchedOff).map(({ name }) => name);
  if (off.length > 0)
    warnings.push(`${off.join(' and ')} would still disable the endpoint because of too many failures.`);
  if (recommended.configuration.mode === 'hold' && request.receivers > 1) {
    warnings.push(
      'The receivers share the limits by joinFleet. Without it, give each an equal part of the concurrency.',
    );
  }
  if (request.mode === undefined) warnings.push(...adviceAgainst(request, recommended.configuration));
  if (recommended.configuration.mode === 'inbox') warnings.push(...commitsOf(request, recommended));
  return warnings;
}

/** The recommendation is for this burst. What each sender does after a refusal may say otherwise. */
function adviceAgainst({ senders }: Request, { mode }: Configuration): string[] {
  return senders.flatMap(({ name, profile }) => {
    const { use, because } = adviceFor(profile);
    if (mode === 'hold' && use === 'inbox')
      return [`${name} ${because}: use the inbox if a larger burst or slower handlers are possible.`];
    if (mode === 'inbox' && because === 'uses your response')
      return [
        `${name} ${because}, and the inbox answers before your handler runs: use the middleware for it.`,
      ];
    return [];
  });
}

/** Commits that make the inbox slower than its handlers by more than this part are worth a sentence. */
const SLOWER = 0.03;

function commitsOf(request: Request, { configuration, played }: Trial): string[] {
  const { concurrency } = configuration;
  const drainRate = maxStartsOf(request, concurrency);
  const rate = busyRateOf(played, drainRate);
  if (rate === undefined || rate > (1 - SLOWER) * drainRate) return [];
  return [
    `A worker of the inbox also waits for two commits of ${String(COMMIT_MS)} ms for each delivery, so ` +
      `${grouped(concurrency)} complete ${grouped(Math.round(rate))}/s instead of ${grouped(Math.round(drainRate))}/s.`,
  ];
}

/** Why deliveries of each sender are lost. */
function causesOf({ senders }: Request, { senders: outcomes }: Outcome): string[] {
  return outcomes.flatMap(({ name, lost, events, switchedOff }) => {
    if (lost === 0) return [];
    const neverRetries = senders.find((sender) => sender.name === name)?.profile.retries === 'none';
    const cause = neverRetries ? 'never retries' : 'gives up before there is room';
    const causes = switchedOff ? `disables the endpoint${neverRetries ? ' and never retries' : ''}` : cause;
    return [`${name} ${causes}: ${grouped(lost)} of its ${grouped(events)} deliveries are lost.`];
  });
}

function losing(outcome: Outcome): string {
  return losesNothing(outcome) ? 'loses nothing' : lossOf(outcome).replace(/^lose/, 'loses');
}

function lossOf(outcome: Outcome): string {
  const off = outcome.senders.filter((sender) => sender.switchedOff).map(({ name }) => name);
  const isOff = off.length === 0 ? '' : `, and ${off.join(' and ')} would disable the endpoint`;
  return `lose ${grouped(outcome.lost)} of ${grouped(outcome.events)} deliveries${isOff}`;
}

function summaryOf({ lost, attemptsPerEvent, delayS }: Outcome): string {
  return `${grouped(lost)} lost, ${attemptsPerEvent.toFixed(2)} attempts, p99 ${duration(delayS.p99)}`;
}

/** Seconds of work in the queue from which no worker was free for a second. */
const BUSY_S = 2;
/** Fewer such seconds say little about the rate. */
const MIN_SECONDS = 10;

/**
 * Deliveries completed per second while no worker was free; undefined if that was rare.
 *
 * @param drainRate - what the handlers alone could complete per second.
 */
function busyRateOf({ seen }: Played, drainRate: number): number | undefined {
  const busy = seen.series.seconds.filter(({ depth }) => depth >= BUSY_S * drainRate);
  if (busy.length < MIN_SECONDS) return undefined;
  return busy.reduce((sum, { completions }) => sum + completions, 0) / busy.length;
}
