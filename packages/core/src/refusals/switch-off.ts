import type { Arrival } from '../delivery/arrival.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Outcome } from '../delivery/events.ts';
import type { SenderProfile, SwitchOffRule } from '../senders/sender-profile.ts';
import { FailureWindow } from './failure-window.ts';

/** A sender is endangered from this share of the failures on after which it disables the endpoint … */
const WARN_AT = 0.75;
/** … until its failures have fallen to this share. Otherwise the warning would repeat at every other answer. */
const CALM_AT = 0.5;
/** Failures in a row of one sender are reported at most this often: a success may end each run just in time. */
const WARN_EVERY_MS = 60_000;
/** The minimum number of answers in a window for a ratio, unless the profile says otherwise. */
const MIN_ANSWERS = 20;
/** How many senders are watched, and how many keys of each. */
const MOST = 1000;

/** A delivery that was answered. */
interface Noted {
  readonly delivery: Delivery;
  readonly key: string;
}

/** The recent answers to one sender. */
interface Watched {
  rule: SwitchOffRule;
  /** Failures in a row, by key: a sender counts them by endpoint. */
  readonly runs: Map<string, number>;
  /** The keys of which so many have followed one another that the sender is endangered. */
  readonly longRuns: Set<string>;
  window: FailureWindow | undefined;
  isWindowNear: boolean;
  warnedMs: number;
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * Watches how senders are answered that disable an endpoint after too many failures. To a sender, refusals are failures, as
 * are answers of 500 and above. From three quarters of the limit on, its deliveries may use the reserve, and an event
 * warns.
 *
 * Failures in a row are counted by sender and key. A share or a number of failures in a window is counted by sender.
 */
export class SwitchOff {
  readonly #bySender = new Map<string, Watched>();
  readonly #warn: (sender: string, key: string, nowMs: number) => void;

  /** @param warn - called when a sender becomes endangered, and again only after better answers. */
  constructor(warn: (sender: string, key: string, nowMs: number) => void) {
    this.#warn = warn;
  }

  entitles({ delivery: { profile }, key, nowMs }: Arrival): boolean {
    return profile?.switchOff !== undefined && this.isNear(profile, key, nowMs);
  }

  ended({ delivery: { profile }, key }: Noted, outcome: Outcome, nowMs: number): void {
    this.note(profile, key, outcome === 'failure', nowMs);
  }

  /** A sender that disconnected counts that as a failure too. */
  withdrawn({ delivery: { profile }, key }: Noted, _cause: unknown, nowMs: number): void {
    this.note(profile, key, true, nowMs);
  }

  refused({ delivery: { profile }, key, nowMs }: Arrival): void {
    this.note(profile, key, true, nowMs);
  }

  /** A sender has got a success with this key. */
  endRun(sender: string, key: string): void {
    const watched = this.#bySender.get(sender);
    watched?.runs.delete(key);
    watched?.longRuns.delete(key);
  }

  /** Whether a few more failures would make the sender disable the endpoint. */
  isNear({ name }: SenderProfile, key: string, nowMs: number): boolean {
    const watched = this.#bySender.get(name);
    if (watched === undefined) return false;
    if (watched.longRuns.has(key)) return true;
    watched.window?.advance(nowMs);
    return watched.isWindowNear && nearnessOf(watched) > CALM_AT;
  }

  /** Notes an answer. */
  note(profile: SenderProfile | undefined, key: string, isFailure: boolean, nowMs: number): void {
    if (profile?.switchOff === undefined) return;
    const { name, switchOff: rule } = profile;
    let watched = this.#bySender.get(name);
    if (watched === undefined) {
      if (this.#bySender.size >= MOST) return;
      watched = {
        ...{ rule, runs: new Map(), longRuns: new Set(), window: undefined },
        ...{ isWindowNear: false, warnedMs: -Infinity },
      };
      this.#bySender.set(name, watched);
    }
    if (watched.window === undefined || watched.rule.windowS !== rule.windowS)
      watched.window = rule.windowS === undefined ? undefined : new FailureWindow(rule.windowS);
    watched.rule = rule;
    const isRunNear = noteRun(watched, key, isFailure, nowMs);
    const wasWindowNear = watched.isWindowNear;
    watched.window?.note(isFailure, nowMs);
    const nearness = nearnessOf(watched);
    watched.isWindowNear = nearness >= WARN_AT || (wasWindowNear && nearness > CALM_AT);
    if (isRunNear || (watched.isWindowNear && !wasWindowNear)) this.#warn(name, key, nowMs);
  }

  /** The senders that are endangered now. */
  endangered(nowMs: number): readonly string[] {
    if (this.#bySender.size === 0) return NONE;
    const names: string[] = [];
    for (const [name, watched] of this.#bySender) {
      watched.window?.advance(nowMs);
      if (watched.longRuns.size > 0 || (watched.isWindowNear && nearnessOf(watched) > CALM_AT)) names.push(name);
    }
    return names;
  }
}

function noteRun(watched: Watched, key: string, isFailure: boolean, nowMs: number): boolean {
  const { runs, longRuns, rule } = watched;
  if (rule.inARow === undefined) return false;
  if (!isFailure) {
    runs.delete(key);
    longRuns.delete(key);
    return false;
  }
  const run = (runs.get(key) ?? 0) + 1;
  if (run === 1 && runs.size >= MOST) {
    // The one whose run began first.
    for (const first of runs.keys()) {
      runs.delete(first);
      longRuns.delete(first);
      break;
    }
  }
  runs.set(key, run);
  if (run < Math.max(1, Math.floor(rule.inARow * WARN_AT)) || longRuns.has(key)) return false;
  longRuns.add(key);
  if (nowMs < watched.warnedMs + WARN_EVERY_MS) return false;
  watched.warnedMs = nowMs;
  return true;
}

/** How much of the limit of its window a sender has reached: 1 disables the endpoint. */
function nearnessOf({ rule: { ratio, minAnswers = MIN_ANSWERS, count }, window }: Watched): number {
  if (window === undefined) return 0;
  const { failures, answers } = window;
  const byCount = count === undefined ? 0 : failures / count;
  const byRatio = ratio === undefined || answers < minAnswers ? 0 : failures / answers / ratio;
  return Math.max(byCount, byRatio);
}
