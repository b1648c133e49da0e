import type { SenderProfile, SwitchOffRule } from '../senders/sender-profile.ts';

/** A warning comes at this part of what switches an endpoint off … */
const WARN_AT = 0.75;
/** … and may come again when the ratio has fallen to this part of it, or it would come at every other answer. */
const CALM_AT = 0.5;
/** A ratio is judged over so many bins of its window … */
const BINS = 12;
/** … and from so many answers on. */
const ENOUGH = 20;
/** Profiles are named by the user, so their number is small; a bound all the same. */
const MAX_SENDERS = 1000;

/** What one sender has been answered lately. */
interface Answers {
  inARow: number;
  isWarned: boolean;
  readonly failures: number[];
  readonly all: number[];
  bin: number;
}

/**
 * Watches for what makes a sender switch an endpoint off: failures in a row, or a share of failures over a window.
 * Refusals are failures to a sender, as are answers of 500 and above.
 */
export class SwitchOffWatch {
  readonly #records = new Map<string, Answers>();

  /**
   * Notes an answer.
   *
   * @returns true once when most of the way to being switched off has been gone; again only after the sender
   * has got better answers in between.
   */
  note(profile: SenderProfile, isFailure: boolean, nowMs: number): boolean {
    const { name, switchOff } = profile;
    if (switchOff === undefined) return false;
    let record = this.#records.get(name);
    if (record === undefined) {
      if (this.#records.size >= MAX_SENDERS) return false;
      record = { inARow: 0, isWarned: false, failures: zeros(), all: zeros(), bin: 0 };
      this.#records.set(name, record);
    }
    record.inARow = isFailure ? record.inARow + 1 : 0;
    const nearness = Math.max(
      nearnessOfRow(record, switchOff),
      nearnessOfRatio(record, switchOff, isFailure, nowMs),
    );
    const wasWarned = record.isWarned;
    record.isWarned = nearness >= 1 || (wasWarned && nearness > CALM_AT / WARN_AT);
    return record.isWarned && !wasWarned;
  }
}

/** 1 and above: near enough to warn of it. */
function nearnessOfRow({ inARow }: Answers, rule: SwitchOffRule): number {
  return rule.inARow === undefined ? 0 : inARow / Math.max(1, Math.floor(rule.inARow * WARN_AT));
}

function nearnessOfRatio(
  record: Answers,
  { ratio, windowS }: SwitchOffRule,
  isFailure: boolean,
  nowMs: number,
): number {
  if (ratio === undefined || windowS === undefined) return 0;
  const bin = Math.floor(nowMs / ((windowS * 1000) / BINS));
  for (let passed = Math.min(BINS, bin - record.bin); passed > 0; passed -= 1) {
    record.failures[(bin - passed + 1) % BINS] = 0;
    record.all[(bin - passed + 1) % BINS] = 0;
  }
  record.bin = bin;
  const slot = bin % BINS;
  record.all[slot] = (record.all[slot] ?? 0) + 1;
  record.failures[slot] = (record.failures[slot] ?? 0) + (isFailure ? 1 : 0);
  const answers = sum(record.all);
  return answers < ENOUGH ? 0 : sum(record.failures) / answers / (ratio * WARN_AT);
}

function zeros(): number[] {
  return new Array<number>(BINS).fill(0);
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
