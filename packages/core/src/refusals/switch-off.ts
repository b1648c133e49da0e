import type { Arrival } from '../delivery/arrival.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Outcome } from '../delivery/events.ts';
import type { Rule } from './rule.ts';
import type { SenderProfile, SwitchOffRule } from '@webhook-backpressure/senders';
import type { AdmittedDelivery } from '../workers/admitted-delivery.ts';
import { FailureWindow } from './failure-window.ts';

/** A sender is endangered from this share of the failures on after which it disables the endpoint … */
const WARN_AT = 0.75;
/** … until its failures in a window have fallen to this share. Otherwise the warning would repeat at every other answer. */
const CALM_AT = 0.5;
/** Failures in a row of one sender are reported at most this often: a success may end each run just in time. */
const WARN_EVERY_MS = 60_000;
/** The minimum number of answers in a window for a ratio, unless the profile says otherwise. */
const MIN_ANSWERS = 20;
/** How many senders are watched, and how many keys of each. */
const MOST = 1000;
/** How many refusals are deferred at most, and of one run, and from how many on as many follow one another as permitted. */
const MAX_DEFERRED = 256;
const MAX_OF_RUN = 128;
const MANY_DEFERRED = 16;

/** Failures in a row of one key, since senders count them by endpoint. */
interface Run {
  failures: number;
  /** Queued deliveries that are refused after a success. */
  readonly deferred: Set<AdmittedDelivery>;
}

/** The recent answers to one sender. */
interface Watched {
  rule: SwitchOffRule;
  readonly runs: Map<string, Run>;
  /** The runs that the sender is warned of. */
  readonly longRuns: Set<Run>;
  window: FailureWindow | undefined;
  isWindowNear: boolean;
  warnedMs: number;
}

/** A delivery that was answered. */
interface Answered {
  readonly delivery: Delivery;
  readonly key: string;
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * Keeps senders below the failures after which they disable the endpoint. To a sender, refusals are failures, as are
 * answers of 500 and above.
 *
 * A sender that counts failures in a row gets only some refusals in a row. From then on its deliveries are queued instead,
 * and refused when one of them has succeeded, again as many as may follow one another. So a refusal comes later, and costs
 * no handling. At 1.3 times the drain rate, Shopify (8 failures) would disable the endpoint within seconds without it.
 *
 * Near either limit its deliveries may use the reserve. An event warns at three quarters of the limit.
 */
export class SwitchOff implements Rule {
  readonly #bySender = new Map<string, Watched>();
  readonly #warn: (sender: string, key: string, nowMs: number) => void;
  readonly #refuse: (admitted: AdmittedDelivery, nowMs: number) => void;
  #deferred = 0;
  #keepsPlaces = false;

  /**
   * @param warn - called when a sender becomes endangered, and again only after better answers.
   * @param refuse - refuses a queued delivery, unless it need not be refused any more.
   */
  constructor(
    warn: (sender: string, key: string, nowMs: number) => void,
    refuse: (admitted: AdmittedDelivery, nowMs: number) => void = () => undefined,
  ) {
    this.#warn = warn;
    this.#refuse = refuse;
  }

  entitles({ delivery: { profile }, key, nowMs }: Arrival): boolean {
    return profile?.switchOff !== undefined && this.isNear(profile, key, nowMs);
  }

  /** Whether the refusal of a delivery would be one too many in a row, so that it must wait for a success. */
  defers(answered: Answered): boolean {
    const { profile, maxWaitMs } = answered.delivery;
    const inARow = profile?.switchOff?.inARow;
    if (inARow === undefined || maxWaitMs === 0 || this.#deferred >= MAX_DEFERRED) return false;
    const run = this.#runOf(answered);
    if (run === undefined || run.deferred.size >= MAX_OF_RUN) return false;
    return run.failures >= mostInARow(inARow, run);
  }

  /** A delivery has been queued that would have been refused. */
  deferred(admitted: AdmittedDelivery): void {
    const run = this.#runOf(admitted);
    if (run === undefined || admitted.isDeferred) return;
    run.deferred.add(admitted);
    admitted.isDeferred = true;
    this.#deferred += 1;
  }

  /** Whether places of the queue are kept for such deliveries. */
  get keepsPlaces(): boolean {
    return this.#keepsPlaces;
  }

  /** Its refusal is no longer deferred. */
  leaves(admitted: AdmittedDelivery): void {
    if (!admitted.isDeferred) return;
    admitted.isDeferred = false;
    this.#deferred -= 1;
    this.#runOf(admitted)?.deferred.delete(admitted);
  }

  ended(admitted: AdmittedDelivery, outcome: Outcome, nowMs: number): void {
    const { switchOff } = admitted.delivery.profile ?? {};
    if (switchOff === undefined) return;
    this.note(admitted, outcome === 'failure', nowMs);
    const { inARow } = switchOff;
    const run = outcome === 'failure' || this.#deferred === 0 ? undefined : this.#runOf(admitted);
    if (run === undefined || inARow === undefined) return;
    for (const one of run.deferred) {
      if (run.failures >= mostInARow(inARow, run)) return;
      this.#refuse(one, nowMs);
    }
  }

  /** A sender that disconnected counts that as a failure too. */
  withdrawn(admitted: AdmittedDelivery, _cause: unknown, nowMs: number): void {
    this.note(admitted, true, nowMs);
  }

  refused(arrival: Arrival): void {
    this.note(arrival, true, arrival.nowMs);
  }

  /** Whether one more failure in a row would endanger the sender, or failures in its window already do. */
  isNear({ name, switchOff }: SenderProfile, key: string, nowMs: number): boolean {
    const watched = this.#bySender.get(name);
    if (watched === undefined) return false;
    const { inARow } = switchOff ?? {};
    const failures = watched.runs.get(key)?.failures ?? 0;
    if (inARow !== undefined && failures > 0 && failures >= warnedFrom(inARow) - 1) return true;
    watched.window?.advance(nowMs);
    return watched.isWindowNear && nearnessOf(watched) > CALM_AT;
  }

  /** Notes an answer. */
  note({ delivery: { profile }, key }: Answered, isFailure: boolean, nowMs: number): void {
    if (profile?.switchOff === undefined) return;
    const { name, switchOff: rule } = profile;
    let watched = this.#bySender.get(name);
    if (watched === undefined) {
      if (this.#bySender.size >= MOST) return;
      watched = {
        rule,
        runs: new Map(),
        longRuns: new Set(),
        window: undefined,
        isWindowNear: false,
        warnedMs: -Infinity,
      };
      this.#bySender.set(name, watched);
    }
    if (watched.window === undefined || watched.rule.windowS !== rule.windowS)
      watched.window = rule.windowS === undefined ? undefined : new FailureWindow(rule.windowS);
    watched.rule = rule;
    if (rule.inARow !== undefined) this.#keepsPlaces = true;
    let warns = false;
    if (!isFailure) endRun(watched, key);
    else if (rule.inARow !== undefined) warns = noteFailure(watched, rule.inARow, key, nowMs);
    const wasWindowNear = watched.isWindowNear;
    watched.window?.note(isFailure, nowMs);
    const nearness = nearnessOf(watched);
    watched.isWindowNear = nearness >= WARN_AT || (wasWindowNear && nearness > CALM_AT);
    if (warns || (watched.isWindowNear && !wasWindowNear)) this.#warn(name, key, nowMs);
  }

  /** A sender has got a success with this key. */
  endRun(sender: string, key: string): void {
    const watched = this.#bySender.get(sender);
    if (watched !== undefined) endRun(watched, key);
  }

  /** The senders that are endangered now. */
  endangered(nowMs: number): readonly string[] {
    if (this.#bySender.size === 0) return NONE;
    const names: string[] = [];
    for (const [name, watched] of this.#bySender) {
      watched.window?.advance(nowMs);
      if (watched.longRuns.size > 0 || (watched.isWindowNear && nearnessOf(watched) > CALM_AT))
        names.push(name);
    }
    return names;
  }

  #runOf({ delivery: { profile }, key }: Answered): Run | undefined {
    return profile === undefined ? undefined : this.#bySender.get(profile.name)?.runs.get(key);
  }
}

/** How many refusals may follow one another: none that warns, unless many are deferred. */
function mostInARow(inARow: number, { deferred }: Run): number {
  return deferred.size >= MANY_DEFERRED ? inARow - 1 : warnedFrom(inARow) - 1;
}

function warnedFrom(inARow: number): number {
  return Math.max(1, Math.floor(inARow * WARN_AT));
}

/** Returns whether the sender becomes endangered by it, and has not been reported lately. */
function noteFailure(watched: Watched, inARow: number, key: string, nowMs: number): boolean {
  const { runs, longRuns } = watched;
  let run = runs.get(key);
  if (run === undefined) {
    if (runs.size >= MOST) forgetFirst(watched);
    run = { failures: 0, deferred: new Set() };
    runs.set(key, run);
  }
  run.failures += 1;
  if (run.failures < warnedFrom(inARow) || longRuns.has(run)) return false;
  longRuns.add(run);
  if (nowMs < watched.warnedMs + WARN_EVERY_MS) return false;
  watched.warnedMs = nowMs;
  return true;
}

/** Forgets the run that began first, of those without deferred refusals. */
function forgetFirst({ runs, longRuns }: Watched): void {
  for (const [key, run] of runs) {
    if (run.deferred.size > 0) continue;
    runs.delete(key);
    longRuns.delete(run);
    return;
  }
}

function endRun({ runs, longRuns }: Watched, key: string): void {
  const run = runs.get(key);
  if (run === undefined) return;
  run.failures = 0;
  longRuns.delete(run);
  if (run.deferred.size === 0) runs.delete(key);
}

/** How much of the limit of its window a sender has reached: 1 disables the endpoint. */
function nearnessOf({ rule: { ratio, minAnswers = MIN_ANSWERS, count }, window }: Watched): number {
  if (window === undefined) return 0;
  const { failures, answers } = window;
  const byCount = count === undefined ? 0 : failures / count;
  const byRatio = ratio === undefined || answers < minAnswers ? 0 : failures / answers / ratio;
  return Math.max(byCount, byRatio);
}
