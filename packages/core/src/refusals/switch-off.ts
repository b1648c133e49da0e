import type { SenderProfile, SwitchOffRule } from '../senders/sender-profile.ts';

/** The warning comes at this share of the limit that disables an endpoint … */
const WARN_AT = 0.75;
/** … and can repeat after the ratio has fallen to this share. Otherwise it would repeat at every other answer. */
const CALM_AT = 0.5;
/** The bins of a ratio's window … */
const BINS = 12;
/** … and the minimum number of answers in it. */
const ENOUGH = 20;
/** Users name the profiles, so there are few; this is only a safety bound. */
const MAX_SENDERS = 1000;

/** The recent answers to one sender. */
interface Answers {
  inARow: number;
  isWarned: boolean;
  readonly failures: number[];
  readonly all: number[];
  bin: number;
}

/**
 * Warns before a sender disables the endpoint, because of consecutive failures or a share of failures in a window.
 * To a sender, refusals are failures, as are answers of 500 and above.
 */
export class SwitchOffWatch {
  readonly #records = new Map<string, Answers>();

  /**
   * Notes an answer.
   *
   * @returns true once, at three quarters of the limit that disables the endpoint; again only after better answers.
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

/** 1 and above: near enough for a warning. */
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
