import type { FinishedUsage } from '@webhook-backpressure/core/parts';
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
  readonly random: () => number;
  readonly report: SenderReport;
  readonly learning: Learning;
  readonly settling: Settling;
  readonly finished: FinishedUsage;
  readonly disabling: Disabling;
}

/** What an answer is to the events of a request. */
interface Result {
  readonly attempt: Attempt;
  readonly judgment: Judgment;
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly tookMs: number;
  /** Whether the failure uses one of the attempts. */
  readonly isCounted: boolean;
}

/** Decides what follows from the end of an attempt: for the endpoint, and for each event of the request. */
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
    learning.learn(attempt, judgment, tookMs, this.#ageMs(parcel.claims[0]));
    if (judgment.isClamped) report.totals.clampedRetryAfter += 1;
    const status = answer instanceof RequestFailure ? undefined : answer.status;
    if (answer instanceof RequestFailure && answer.kind === 'timeout') report.totals.timedOut += 1;
    this.#count(kind, destination.id, tookMs);
    const result: Result = { attempt, judgment, status, tookMs, isCounted };
    if (kind === 'gone') disabling.disable(destination.id, 'gone');
    else if (learned.health.isOver) disabling.disable(destination.id, 'failing');
    const failedIds = judgment.outcome.kind === 'delivered' ? judgment.outcome.failedIds : [];
    for (const claim of parcel.claims) {
      const isFailed = failedIds.length > 0 && failedIds.includes(claim.ref.id);
      void this.#end(claim, isFailed ? this.#retried(result, claim) : this.#fateOf(result, claim), result);
    }
  }

  /** A request could not be made of what is stored. */
  damaged(attempt: Attempt, error: string): void {
    const judgment: Judgment = { outcome: { kind: 'final' }, hints: undefined, isClamped: false, error };
    attempt.learned.health.abandoned(attempt.startedAtMs, this.#parts.now());
    const result: Result = { attempt, judgment, status: undefined, tookMs: 0, isCounted: true };
    for (const claim of attempt.parcel.claims) void this.#end(claim, this.#last(claim, error), result);
  }

  /** An event of an endpoint that is disabled, or does not exist. No request was made. */
  refused(claim: Claim, error: string): void {
    const { finished, settling, report, now } = this.#parts;
    if (!finished.canShelve(claim.bytes)) {
      void settling.settle(claim, { as: 'released', retryInMs: FULL_RECHECK_MS });
      return;
    }
    void settling.settle(claim, { as: 'dead', error }).then((isHeld) => {
      if (!isHeld) return;
      const { key: endpoint, id, attempt } = claim.ref;
      report.totals.dead += 1;
      report.monitor?.lost('dead', 1, now());
      report.emit({ type: 'dead', endpoint, id, attempt, events: 1, status: undefined, error, tookMs: 0 });
    });
  }

  /** The process gives an attempt up: its events are due immediately. */
  abandoned({ parcel }: Attempt): void {
    for (const claim of parcel.claims)
      void this.#parts.settling.settle(claim, { as: 'released', retryInMs: 0 });
  }

  #fateOf(result: Result, claim: Claim): Fate {
    const { outcome, error } = result.judgment;
    switch (outcome.kind) {
      case 'delivered':
        return { as: 'completed' };
      case 'limited': {
        if (this.#isTooOld(claim)) return this.#last(claim, error);
        return { as: 'released', retryInMs: this.#waitMs(result, outcome.waitMs, claim) };
      }
      case 'down':
      case 'failed':
        if (!result.isCounted) return { as: 'released', retryInMs: 0 };
        return this.#retried(result, claim);
      case 'final':
      case 'too-much':
      case 'gone':
        return this.#last(claim, error);
    }
  }

  #retried({ judgment: { error } }: Result, claim: Claim): Fate {
    const { settings, random } = this.#parts;
    const { attempt } = claim.ref;
    if (attempt >= settings.retry.attempts || this.#isTooOld(claim)) return this.#last(claim, error);
    const retryInMs = retryDelayMs(attempt, settings.retry, random);
    return { as: 'failed', retryInMs, error, isRepeated: false };
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

  #waitMs({ status }: Result, waitMs: number | undefined, { ref }: Claim): number {
    const { settings, random } = this.#parts;
    if (waitMs !== undefined) return namedDelayMs(waitMs, random);
    return unnamedDelayMs(status, ref.attempt, settings.retry, random);
  }

  #ageMs({ event }: Claim): number {
    return Math.max(0, this.#parts.sentAtMs() - event.receivedAtMs);
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

  /** Stores the fate of an event, and reports it. */
  async #end(claim: Claim, fate: Fate, result: Result): Promise<void> {
    const { settling, report, now } = this.#parts;
    const { attempt, judgment, status, tookMs, isCounted } = result;
    if (!(await settling.settle(claim, fate))) return;
    const { key: endpoint, id, attempt: number } = claim.ref;
    const facts = { endpoint, id, attempt: number, events: attempt.parcel.claims.length };
    const { error } = judgment;
    if (fate.as === 'completed') {
      report.totals.delivered += 1;
      const latencyMs = this.#ageMs(claim);
      report.monitor?.delivered(endpoint, 1, latencyMs, tookMs, now());
      if (report.hasListeners)
        report.emit({ type: 'delivered', ...facts, status: status ?? 0, tookMs, latencyMs });
    } else if (fate.as === 'dead') {
      report.totals.dead += 1;
      report.monitor?.lost('dead', 1, now());
      report.emit({ type: 'dead', ...facts, status, error, tookMs });
    } else if (report.hasListeners) {
      const { retryInMs } = fate;
      if (judgment.outcome.kind === 'limited')
        report.emit({ type: 'limited', ...facts, status: status ?? 0, tookMs, retryInMs });
      else
        report.emit({
          ...{ type: 'failed', ...facts, status, error, tookMs, retryInMs },
          isCounted: isCounted && fate.as === 'failed' && !fate.isRepeated,
        });
    }
  }
}
