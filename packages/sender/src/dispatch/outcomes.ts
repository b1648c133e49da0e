import type { FinishedUsage } from '@webhook-backpressure/inbox/store';
import { judge } from '../answers/judge.ts';
import type { Judgment } from '../answers/outcome.ts';
import type { SenderSettings } from '../options/sender-settings.ts';
import { RequestFailure, type Answer } from '../requests/request.ts';
import type { SenderReport } from '../watch/sender-report.ts';
import type { Attempt } from './attempt.ts';
import type { Claim } from './claim.ts';
import type { Disabling } from './disabling.ts';
import type { Learning } from './learning.ts';
import { namedDelayMs, retryDelayMs, unnamedDelayMs } from './retries.ts';
import type { Fate, Settling } from './settling.ts';

/** The shortest delay before the last attempt is repeated because the dead-letter queue is full. */
const LEAST_REPEAT_MS = 1000;
/** The delay until the next check whether the dead-letter queue has room. */
const FULL_RECHECK_MS = 60_000;

export interface OutcomeParts {
  readonly settings: SenderSettings;
  readonly now: () => number;
  /** The unfiltered wall clock. */
  readonly sentAtMs: () => number;
  /** The wall clock without sudden steps. */
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly report: SenderReport;
  readonly learning: Learning;
  readonly settling: Settling;
  readonly finished: FinishedUsage;
  readonly disabling: Disabling;
}

/** The meaning of an answer for the events of a request. */
interface Result {
  readonly attempt: Attempt;
  readonly judgment: Judgment;
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly tookMs: number;
  /** How long its events wait for the next attempt. */
  readonly delayMs: number;
  /** Whether the failure uses one of the attempts. */
  readonly isCounted: boolean;
}

/** Decides the consequences of the end of an attempt: for the endpoint, and for each event of the request. */
export class Outcomes {
  readonly #parts: OutcomeParts;

  constructor(parts: OutcomeParts) {
    this.#parts = parts;
  }

  /** An attempt ended, with or without an answer. */
  answered(attempt: Attempt, answer: Answer | RequestFailure): void {
    const { settings, now, sentAtMs, report, learning, disabling } = this.#parts;
    const { parcel, learned, destination, startedAtMs, isProbe } = attempt;
    const nowMs = sentAtMs();
    const judgment = judge(answer, { nowMs, maxWaitMs: settings.maxWaitMs, isBatch: parcel.isBatch });
    const { kind } = judgment.outcome;
    const tookMs = now() - startedAtMs;
    // The endpoint began to fail while the request was in flight: the event is not the reason.
    const isCounted = kind !== 'down' || isProbe || !learned.health.isFailing;
    learning.learn(attempt, judgment, this.#ageMs(parcel.claims[0]));
    if (judgment.isClamped) report.totals.clampedRetryAfter += 1;
    const status = answer instanceof RequestFailure ? undefined : answer.status;
    if (answer instanceof RequestFailure && answer.kind === 'timeout') report.totals.timedOut += 1;
    this.#count(kind, destination.id, tookMs);
    const delayMs = isDelivered(judgment) ? 0 : this.#delayMs(judgment, status, attempt);
    const result: Result = { attempt, judgment, status, tookMs, delayMs, isCounted };
    if (kind === 'gone') disabling.disable(destination.id, 'gone');
    else if (learned.health.isOver) disabling.disable(destination.id, 'failing');
    if (kind === 'too-much' && parcel.claims.length > 1) this.#split(result);
    else void this.#endAll(result);
  }

  /** The stored event is damaged: no request could be made of it. A batch is split, because one event of it is at fault. */
  damaged(attempt: Attempt, error: string): void {
    const judgment: Judgment = { outcome: { kind: 'final' }, hints: undefined, isClamped: false, error };
    attempt.learned.health.abandoned(attempt.startedAtMs, this.#parts.now());
    const result: Result = {
      ...{ attempt, judgment, status: undefined, tookMs: 0, delayMs: 0, isCounted: true },
    };
    if (attempt.parcel.claims.length > 1) this.#split(result);
    else void this.#endAll(result);
  }

  /** An event of an endpoint that is disabled, or does not exist. No request was made. */
  refused(claim: Claim, error: string): void {
    const { finished, settling } = this.#parts;
    if (!finished.canShelve(claim.bytes)) {
      void settling.settle(claim, { as: 'released', retryInMs: FULL_RECHECK_MS });
      return;
    }
    void settling.settle(claim, { as: 'dead', error }).then((isHeld) => {
      if (isHeld) this.#reportDead(claim, error, { status: undefined, tookMs: 0 });
    });
  }

  /** The process gives an attempt up: its events are due immediately. */
  abandoned({ parcel }: Attempt): void {
    for (const claim of parcel.claims)
      void this.#parts.settling.settle(claim, { as: 'released', retryInMs: 0 });
  }

  /** Stores the fate of each event, and reports them. */
  async #endAll(result: Result): Promise<void> {
    const { settling } = this.#parts;
    const { parcel, learned } = result.attempt;
    const { outcome } = result.judgment;
    const failedIds = new Set(outcome.kind === 'delivered' ? outcome.failedIds : []);
    const fates = parcel.claims.map((claim) =>
      failedIds.has(claim.ref.id) ? this.#retried(result, claim) : this.#fateOf(result, claim),
    );
    // A refused batch is sent again as it was. Events that 207 names are sent again with others.
    if (parcel.isBatch && failedIds.size === 0)
      learned.batching?.keepTogether(parcel.claims.filter((_, at) => isRetry(fates[at])));
    const ended = parcel.claims.map((claim, at) => settling.settle(claim, fates[at] as Fate));
    const areHeld = await Promise.all(ended);
    this.#report(
      result,
      fates.map((fate, at) => (areHeld[at] === true ? fate : undefined)),
    );
  }

  /** The batch is too large, or one of its events is at fault. */
  #split({ attempt, status }: Result): void {
    const { settling, report } = this.#parts;
    const { parcel, learned } = attempt;
    learned.batching?.split(parcel.claims);
    report.emit({ type: 'split', ...attempt.facts, status: status ?? 0 });
    for (const claim of parcel.claims) void settling.settle(claim, { as: 'released', retryInMs: 0 });
  }

  #fateOf(result: Result, claim: Claim): Fate {
    const { outcome, error } = result.judgment;
    const isDisabled = this.#parts.disabling.reasonOf(claim.ref.key) !== undefined;
    switch (outcome.kind) {
      case 'delivered':
        return { as: 'completed' };
      case 'limited': {
        if (this.#isTooOld(claim) || isDisabled) return this.#last(claim, error);
        return { as: 'released', retryInMs: result.delayMs };
      }
      case 'down':
      case 'failed':
        if (isDisabled) return this.#last(claim, error);
        if (!result.isCounted) return { as: 'released', retryInMs: 0 };
        return this.#retried(result, claim);
      case 'final':
      case 'too-much':
      case 'gone':
        return this.#last(claim, error);
    }
  }

  #retried({ judgment: { error }, delayMs }: Result, claim: Claim): Fate {
    const { retry } = this.#parts.settings;
    if (claim.ref.attempt >= retry.attempts || this.#isTooOld(claim)) return this.#last(claim, error);
    return { as: 'failed', retryInMs: delayMs, error, isRepeated: false };
  }

  /**
   * The event becomes a dead letter. If the dead-letter queue is full, it stays unfinished, and its last attempt is repeated
   * after the longest delay: the outbox fills up, and loses nothing.
   */
  #last({ bytes }: Claim, error: string): Fate {
    const { finished, settings } = this.#parts;
    if (finished.canShelve(bytes)) return { as: 'dead', error };
    const retryInMs = Math.max(LEAST_REPEAT_MS, settings.retry.maxDelayMs);
    return { as: 'failed', retryInMs, error, isRepeated: true };
  }

  /** How long the events wait, the same for all of a batch, which is sent again as it was. */
  #delayMs({ outcome }: Judgment, status: number | undefined, attempt: Attempt): number {
    const { random, settings } = this.#parts;
    const { attempt: number } = attempt.facts;
    if (outcome.kind !== 'limited') return retryDelayMs(number, settings.retry, random);
    if (outcome.waitMs !== undefined) return namedDelayMs(outcome.waitMs, random);
    return unnamedDelayMs(status, number, settings.retry, random);
  }

  /** By the trusted clock as well: while the wall clock is wrong, no event is too old. */
  #ageMs({ event }: Claim): number {
    const { sentAtMs, wallMs } = this.#parts;
    return Math.max(0, Math.min(sentAtMs(), wallMs()) - event.receivedAtMs);
  }

  #isTooOld(claim: Claim): boolean {
    return this.#ageMs(claim) >= this.#parts.settings.retry.maxAgeMs;
  }

  #count(kind: Judgment['outcome']['kind'], endpoint: string, tookMs: number): void {
    if (kind === 'delivered') return;
    const { report, now } = this.#parts;
    const how = kind === 'limited' ? 'limited' : 'failed';
    report.totals[how] += 1;
    report.monitor?.ended(endpoint, how, tookMs, now());
  }

  /** @param fates - of the events; undefined for those that another process has taken over. */
  #report(result: Result, fates: readonly (Fate | undefined)[]): void {
    const { attempt, judgment, status, tookMs, isCounted } = result;
    const { report, now } = this.#parts;
    const { id: endpoint } = attempt.destination;
    const { error, outcome } = judgment;
    const delivered = fates.filter((fate) => fate?.as === 'completed').length;
    if (delivered > 0) {
      report.totals.delivered += delivered;
      const latencyMs = this.#ageMs(attempt.parcel.claims[0]);
      report.monitor?.delivered(endpoint, delivered, latencyMs, tookMs, now());
      if (report.hasListeners) {
        const facts = { ...attempt.facts, events: delivered };
        report.emit({ type: 'delivered', ...facts, status: status ?? 0, tookMs, latencyMs });
      }
      if (delivered === fates.length) return;
    }
    for (const [at, fate] of fates.entries())
      if (fate?.as === 'dead') this.#reportDead(attempt.parcel.claims[at] as Claim, fate.error, result);
    const retried = fates.filter(isRetry);
    const [first] = retried;
    if (first === undefined || !report.hasListeners) return;
    const { retryInMs } = first;
    const facts = { ...attempt.facts, events: retried.length, tookMs, retryInMs };
    if (outcome.kind === 'limited') report.emit({ type: 'limited', ...facts, status: status ?? 0 });
    else {
      const uses = isCounted && first.as === 'failed' && !first.isRepeated;
      report.emit({ type: 'failed', ...facts, status, error, isCounted: uses });
    }
  }

  #reportDead({ ref }: Claim, error: string, { status, tookMs }: Pick<Result, 'status' | 'tookMs'>): void {
    const { report, now } = this.#parts;
    const { key: endpoint, id, attempt } = ref;
    report.totals.dead += 1;
    report.monitor?.lost('dead', 1, now());
    report.emit({ type: 'dead', endpoint, id, attempt, events: 1, status, error, tookMs });
  }
}

type Retry = Extract<Fate, { readonly as: 'failed' | 'released' }>;

function isRetry(fate: Fate | undefined): fate is Retry {
  return fate?.as === 'failed' || fate?.as === 'released';
}

function isDelivered({ outcome }: Judgment): boolean {
  return outcome.kind === 'delivered' && outcome.failedIds.length === 0;
}
