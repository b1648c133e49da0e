import type { SenderProfile, SwitchOffRule } from '../senders/sender-profile.ts';
import { FailureRuns, type FailureRun } from './failure-runs.ts';
import { FailureWindow } from './failure-window.ts';

/** The warning comes at this share of the limit that disables an endpoint … */
const WARN_AT = 0.75;
/** … and can repeat after a window has fallen to this share. Otherwise it would repeat at every other answer. */
const CALM_AT = 0.5;
/** From this share of the limit of a window on, a delivery is not refused while there is a place for it. */
const KEEP_AT = 0.9;
/** Failures in a row of one sender are reported at most this often: a success may end each run just in time. */
const WARN_EVERY_MS = 60_000;
/** The minimum number of answers in a window for a ratio, unless the profile says otherwise. */
const MIN_ANSWERS = 20;
/** Users name the profiles, so there are few; this is only a safety bound. */
const MAX_SENDERS = 1000;

/** The recent answers to one sender. */
interface Recent {
  readonly sender: string;
  rule: SwitchOffRule;
  window: FailureWindow;
  isWarned: boolean;
}

const NONE: readonly string[] = Object.freeze([]);

/** After this many consecutive failures the sender is endangered. */
export function endangeringRun(inARow: number): number {
  return Math.max(1, Math.floor(inARow * WARN_AT));
}

/** After this many consecutive failures a success is sought: of the delivery that starts, or is stored, next. */
export function hurryingRun(inARow: number): number {
  return Math.max(0, Math.min(endangeringRun(inARow), Math.floor(inARow / 2)) - 1);
}

/**
 * Watches how senders are answered, and warns before a sender disables the endpoint. To a sender, refusals are failures,
 * as are answers of 500 and above.
 *
 * Failures in a row are counted by sender and key, since senders count them by endpoint. A share or a number of failures
 * in a window is counted by sender, which for a number is the careful side.
 */
export class SwitchOffWatch {
  readonly runs: FailureRuns = new FailureRuns((run) => this.#warned.delete(run));
  /** Whether there is any sender that disables endpoints. */
  isNeeded = false;
  readonly #recents = new Map<string, Recent>();
  /** Runs and windows that are warned of, in the order of the warnings. */
  readonly #warned = new Set<FailureRun | Recent>();
  /** When runs of a sender were last warned of. */
  readonly #warnedMs = new Map<string, number>();

  /**
   * Notes an answer.
   *
   * @returns true once, at three quarters of the limit that disables the endpoint; again only after better answers, and
   *   for failures in a row after a minute.
   */
  note({ name, switchOff }: SenderProfile, key: string, isFailure: boolean, nowMs: number): boolean {
    if (switchOff === undefined) return false;
    this.isNeeded = true;
    const isRunNear = this.#noteRun(name, key, switchOff, isFailure, nowMs);
    const isWindowNear = this.#noteWindow(name, switchOff, isFailure, nowMs);
    return isRunNear || isWindowNear;
  }

  /** Whether one more failure brings the sender too near to a limit of its window. */
  isWindowNear({ name, switchOff }: SenderProfile, nowMs: number): boolean {
    if (switchOff?.windowS === undefined) return false;
    const recent = this.#recents.get(name);
    if (recent === undefined) return false;
    recent.window.advance(nowMs);
    return nearnessOf(recent, 1) > KEEP_AT;
  }

  /** The senders that are warned of, until better answers, or until the failures are older than the sender's window. */
  endangered(nowMs: number): readonly string[] {
    if (this.#warned.size === 0) return NONE;
    const senders = new Set<string>();
    for (const one of this.#warned) {
      if ('window' in one) {
        one.window.advance(nowMs);
        if (nearnessOf(one) <= CALM_AT) continue;
      }
      senders.add(one.sender);
    }
    return Array.from(senders);
  }

  #noteRun(name: string, key: string, { inARow }: SwitchOffRule, isFailure: boolean, nowMs: number): boolean {
    if (inARow === undefined) return false;
    if (!isFailure) {
      this.runs.end(name, key);
      return false;
    }
    const run = this.runs.fail(name, key);
    if (run.failures !== endangeringRun(inARow)) return false;
    this.#warned.add(run);
    const warnedMs = this.#warnedMs.get(name);
    if (warnedMs !== undefined && nowMs < warnedMs + WARN_EVERY_MS) return false;
    if (warnedMs !== undefined || this.#warnedMs.size < MAX_SENDERS) this.#warnedMs.set(name, nowMs);
    return true;
  }

  #noteWindow(name: string, rule: SwitchOffRule, isFailure: boolean, nowMs: number): boolean {
    if (rule.windowS === undefined) return false;
    let recent = this.#recents.get(name);
    if (recent === undefined) {
      if (this.#recents.size >= MAX_SENDERS) return false;
      recent = { sender: name, rule, window: new FailureWindow(rule.windowS), isWarned: false };
      this.#recents.set(name, recent);
    }
    if (recent.rule.windowS !== rule.windowS) recent.window = new FailureWindow(rule.windowS);
    recent.rule = rule;
    recent.window.note(isFailure, nowMs);
    const nearness = nearnessOf(recent);
    const wasWarned = recent.isWarned;
    recent.isWarned = nearness >= WARN_AT || (wasWarned && nearness > CALM_AT);
    if (recent.isWarned === wasWarned) return false;
    if (wasWarned) this.#warned.delete(recent);
    else this.#warned.add(recent);
    return recent.isWarned;
  }
}

/** How much of the limit of its window a sender has reached, with `more` failures: 1 disables the endpoint. */
function nearnessOf({ rule: { ratio, minAnswers = MIN_ANSWERS, count }, window }: Recent, more = 0): number {
  const failures = window.failures + more;
  const answers = window.answers + more;
  const byCount = count === undefined ? 0 : failures / count;
  // One success among few answers spares many later.
  const enough = more === 0 ? minAnswers : minAnswers / 2;
  const byRatio = ratio === undefined || answers < enough ? 0 : failures / answers / ratio;
  return Math.max(byCount, byRatio);
}
