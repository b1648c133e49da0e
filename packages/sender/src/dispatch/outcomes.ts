import { inBackground } from '@webhook-backpressure/base';
import { judge, type Judgment } from '../answers/judge.ts';
import { perSecondOf } from '../options/rates.ts';
import type { RetrySettings } from '../options/sender-options.ts';
import type { SenderContext } from '../outbox/sender-context.ts';
import { RequestFailure, type Answer } from '../requests/request.ts';
import type { Attempt, AttemptEnds } from './attempts.ts';
import type { Destination } from './destinations.ts';
import type { Claim, Fate, Settling } from './settling.ts';
import type { Stops } from './stops.ts';

/** The shortest delay before the last attempt is repeated because the dead-letter queue is full. */
const MIN_REPEAT_MS = 1000;
/** The delay until the next check whether the dead-letter queue has room. */
const FULL_RECHECK_MS = 60_000;
/** After this number of doublings any first delay exceeds the longest one. Without the limit 0 × ∞ would be NaN. */
const MAX_DOUBLINGS = 60;
/** After 429 without Retry-After: most limits are per minute. */
const UNNAMED_WAIT_MS = 60_000;
const SPREAD = 0.1;
const MAX_SPREAD_MS = 2000;

/** The meaning of an answer for the events of a request. */
interface Result {
  readonly attempt: Attempt;
  readonly judgment: Judgment;
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly tookMs: number;
  /** How long its events wait for the next attempt, the same for all of a batch, which is sent again as it was. */
  readonly delayMs: number;
  /** Whether the failure uses one of the attempts. */
  readonly isCounted: boolean;
}

type Retry = Extract<Fate, { readonly as: 'failed' | 'released' }>;

/** Decides the consequences of the end of an attempt: for the endpoint, and for each event of the request. */
export class Outcomes implements AttemptEnds {
  readonly #context: SenderContext;
  readonly #stops: Stops;
  readonly #settling: Settling;
  readonly #review: (destination: Destination) => void;

  /** @param review - called when an answer may have changed when its endpoint can be called next. */
  constructor(
    context: SenderContext,
    stops: Stops,
    settling: Settling,
    review: (destination: Destination) => void,
  ) {
    this.#context = context;
    this.#stops = stops;
    this.#settling = settling;
    this.#review = review;
  }

  answered(attempt: Attempt, answer: Answer | RequestFailure): void {
    const { settings, now, wall, report } = this.#context;
    const { parcel, learned, destination, startedAtMs, isProbe } = attempt;
    const { maxWaitMs, retry, random } = settings;
    const judgment = judge(answer, { nowMs: wall.rawMs(), maxWaitMs, isBatch: parcel.isBatch });
    const { outcome } = judgment;
    const { kind } = outcome;
    const tookMs = now() - startedAtMs;
    const status = answer instanceof RequestFailure ? undefined : answer.status;
    // A Retry-After does not make an endpoint work that answers nothing but 5xx.
    const isRefused = kind === 'limited' && status !== undefined && status >= 500;
    // The endpoint began to fail while the request was in flight: the event is not the reason.
    const isCounted =
      kind === 'limited' ? isRefused && isProbe : kind !== 'down' || isProbe || !learned.health.isFailing;
    this.#learn(attempt, judgment, isRefused);
    if (judgment.isClamped) report.totals.clampedRetryAfter += 1;
    if (answer instanceof RequestFailure && answer.kind === 'timeout') report.totals.timedOut += 1;
    if (kind !== 'delivered') {
      const how = kind === 'limited' ? 'limited' : 'failed';
      report.totals[how] += 1;
      report.monitor?.ended(destination.id, how, tookMs, now());
    }
    let delayMs = 0;
    if (kind === 'limited' && (outcome.waitMs !== undefined || status === 429))
      delayMs = namedDelayMs(outcome.waitMs ?? UNNAMED_WAIT_MS, random);
    else if (kind !== 'delivered' || outcome.failedIds.length > 0)
      delayMs = retryDelayMs(attempt.facts.attempt, retry, random);
    const result: Result = { attempt, judgment, status, tookMs, delayMs, isCounted };
    if (kind === 'gone') this.#stops.disable(destination.id, 'gone');
    else if (learned.health.isOver) this.#stops.disable(destination.id, 'failing');
    if (kind === 'too-much' && parcel.claims.length > 1) this.#split(result);
    else inBackground(this.#endAll(result));
    this.#review(destination);
  }

  /** A batch is split, because one event of it is at fault. */
  damaged(attempt: Attempt, error: string): void {
    const judgment: Judgment = { outcome: { kind: 'final' }, hints: undefined, isClamped: false, error };
    attempt.learned.health.abandoned(attempt.startedAtMs, this.#context.now());
    const result: Result = { attempt, judgment, status: undefined, tookMs: 0, delayMs: 0, isCounted: true };
    if (attempt.parcel.claims.length > 1) this.#split(result);
    else inBackground(this.#endAll(result));
  }

  abandoned({ parcel }: Attempt): void {
    this.#settling.release(parcel.claims);
  }

  /** An event of an endpoint that is disabled, or does not exist. No request was made. */
  async refused(claim: Claim, error: string): Promise<void> {
    if (!this.#context.finished.canKeepDeadLetter(claim.bytes)) {
      await this.#settling.settle(claim, { as: 'released', retryInMs: FULL_RECHECK_MS });
    } else if (await this.#settling.settle(claim, { as: 'dead', error })) {
      this.#reportDead(claim, error, undefined, 0);
    }
  }

  /** Passes the result on to the limits and the health of the endpoint, and reports how they have changed. */
  #learn(attempt: Attempt, { outcome, hints, error }: Judgment, isRefused: boolean): void {
    const { now, buckets, report } = this.#context;
    const { destination, learned, livedMs, startedAtMs, parcel } = attempt;
    const { pace, health } = learned;
    const { id: endpoint } = destination;
    const nowMs = now();
    const { limit: limitBefore, waitUntilMs: waitBeforeMs, isSlowed: wasSlowed } = pace;
    const wasFailing = health.isFailing;
    // It no longer counts as in flight.
    const inFlight = destination.inFlight + 1;
    if (outcome.kind === 'delivered') pace.succeeded(startedAtMs, livedMs, inFlight, hints, nowMs);
    else if (outcome.kind === 'limited') pace.limited(startedAtMs, outcome.waitMs, hints, nowMs);
    else pace.failed(startedAtMs, hints, nowMs);
    if (outcome.kind === 'down') health.failed(startedAtMs, this.#ageMs(parcel.claims[0]), nowMs);
    else if (isRefused) health.refused(startedAtMs, this.#ageMs(parcel.claims[0]), nowMs);
    else health.answered();
    learned.lastError = outcome.kind === 'delivered' ? undefined : error;

    const { limit, waitUntilMs, waitsBecause, isSlowed } = pace;
    const waitMs = waitUntilMs - nowMs;
    if (waitMs > 0 && waitUntilMs !== waitBeforeMs) {
      buckets.pause(endpoint, waitMs, limit);
      if (waitsBecause !== undefined && waitUntilMs > waitBeforeMs)
        report.emit({ type: 'waiting', endpoint, because: waitsBecause, forMs: waitMs });
    }
    if (isSlowed || wasSlowed) {
      const rates = { endpoint, ratePerSecond: perSecondOf(limit), maxInFlight: pace.maxInFlight };
      if (!isSlowed) report.emit({ type: 'restored', ...rates });
      else if (!wasSlowed || rates.ratePerSecond < perSecondOf(limitBefore))
        report.emit({ type: 'slowed', ...rates });
    }
    if (health.isFailing === wasFailing) return;
    if (wasFailing) report.emit({ type: 'recovered', endpoint });
    else report.emit({ type: 'failing', endpoint, error, retryInMs: Math.max(0, health.probeAtMs - nowMs) });
  }

  /** Stores the fate of each event, and reports them. */
  async #endAll(result: Result): Promise<void> {
    const { parcel, learned } = result.attempt;
    const { outcome } = result.judgment;
    const fates: Fate[] = [];
    for (const claim of parcel.claims) fates.push(this.#fateOf(result, claim));
    // A refused batch is sent again as it was. Events that 207 names are sent again with others.
    if (parcel.isBatch && outcome.kind !== 'delivered')
      learned.batching?.keepTogether(parcel.claims.filter((_, at) => isRetry(fates[at] as Fate)));
    const settled: Promise<boolean>[] = [];
    for (const [at, claim] of parcel.claims.entries())
      settled.push(this.#settling.settle(claim, fates[at] as Fate));
    this.#report(result, fates, await Promise.all(settled));
  }

  /** The batch is too large, or one of its events is at fault. */
  #split({ attempt, status }: Result): void {
    const { parcel, learned } = attempt;
    learned.batching?.split(parcel.claims);
    this.#context.report.emit({ type: 'split', ...attempt.facts, status: status ?? 0 });
    this.#settling.release(parcel.claims);
  }

  #fateOf(result: Result, claim: Claim): Fate {
    const { judgment, delayMs, isCounted } = result;
    const { outcome, error } = judgment;
    const { ref } = claim;
    if (outcome.kind === 'delivered' && !outcome.failedIds.includes(ref.id)) return { as: 'completed' };
    if (outcome.kind === 'final' || outcome.kind === 'too-much' || outcome.kind === 'gone')
      return this.#last(claim, error);
    const { retry } = this.#context.settings;
    const isDisabled = this.#stops.reasonOf(ref.key) !== undefined;
    const isTooOld = this.#ageMs(claim) >= retry.maxAgeMs;
    if (outcome.kind === 'limited' && !isCounted)
      return isDisabled || isTooOld ? this.#last(claim, error) : { as: 'released', retryInMs: delayMs };
    if (isDisabled && outcome.kind !== 'delivered') return this.#last(claim, error);
    if (!isCounted) return { as: 'released', retryInMs: 0 };
    if (isTooOld || ref.attempt >= retry.attempts) return this.#last(claim, error);
    return { as: 'failed', retryInMs: delayMs, error, isRepeated: false };
  }

  /**
   * The event becomes a dead letter. If the dead-letter queue is full, it stays unfinished, and its last attempt is repeated
   * after the longest delay: the outbox fills up, and loses nothing.
   */
  #last({ bytes }: Claim, error: string): Fate {
    const { finished, settings } = this.#context;
    if (finished.canKeepDeadLetter(bytes)) return { as: 'dead', error };
    const retryInMs = Math.max(MIN_REPEAT_MS, settings.retry.maxDelayMs);
    return { as: 'failed', retryInMs, error, isRepeated: true };
  }

  /** By the trusted clock as well: while the wall clock is wrong, no event is too old. */
  #ageMs({ event }: Claim): number {
    const { wall, wallMs } = this.#context;
    return Math.max(0, Math.min(wall.rawMs(), wallMs()) - event.receivedAtMs);
  }

  /** @param areHeld - for each event whether no other process has taken it over, which then reports it. */
  #report(result: Result, fates: readonly Fate[], areHeld: readonly boolean[]): void {
    const { attempt, judgment, status, tookMs, isCounted } = result;
    const { report, now } = this.#context;
    const { claims } = attempt.parcel;
    const { id: endpoint } = attempt.destination;
    const retried: Retry[] = [];
    const dead: [Claim, string][] = [];
    let delivered = 0;
    for (const [at, fate] of fates.entries()) {
      if (areHeld[at] !== true) continue;
      if (isRetry(fate)) retried.push(fate);
      else if (fate.as === 'dead') dead.push([claims[at] as Claim, fate.error]);
      else delivered += 1;
    }
    if (delivered > 0) {
      report.totals.delivered += delivered;
      const latencyMs = this.#ageMs(claims[0]);
      report.monitor?.delivered(endpoint, delivered, latencyMs, tookMs, now());
      if (report.listeners.any) {
        const facts = { ...attempt.facts, events: delivered };
        report.emit({ type: 'delivered', ...facts, status: status ?? 0, tookMs, latencyMs });
      }
    }
    for (const [claim, error] of dead) this.#reportDead(claim, error, status, tookMs);
    const [first] = retried;
    if (first === undefined || !report.listeners.any) return;
    const { retryInMs } = first;
    const facts = { ...attempt.facts, events: retried.length, tookMs, retryInMs };
    if (judgment.outcome.kind === 'limited') report.emit({ type: 'limited', ...facts, status: status ?? 0 });
    else {
      const uses = isCounted && first.as === 'failed' && !first.isRepeated;
      report.emit({ type: 'failed', ...facts, status, error: judgment.error, isCounted: uses });
    }
  }

  #reportDead({ ref }: Claim, error: string, status: number | undefined, tookMs: number): void {
    const { report, now } = this.#context;
    const { key: endpoint, id, attempt } = ref;
    report.totals.dead += 1;
    report.monitor?.lost('dead', 1, now());
    report.emit({ type: 'dead', endpoint, id, attempt, events: 1, status, error, tookMs });
  }
}

function isRetry(fate: Fate): fate is Retry {
  return fate.as === 'failed' || fate.as === 'released';
}

/** The delay after the n-th attempt: any up to a bound that doubles each time (full jitter), so that retries spread evenly. */
export function retryDelayMs(attempt: number, retry: RetrySettings, random: () => number): number {
  const doublings = Math.min(MAX_DOUBLINGS, attempt - 1);
  return Math.ceil(Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** doublings) * random());
}

/**
 * The delay after the endpoint asked to wait: at least what it named. A little more by chance, so that the events of many
 * senders do not arrive in the same millisecond.
 */
export function namedDelayMs(waitMs: number, random: () => number): number {
  return Math.ceil(waitMs + Math.min(MAX_SPREAD_MS, waitMs * SPREAD) * random());
}
