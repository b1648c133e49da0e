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
  readonly sender: string;
  rule: SwitchOffRule;
  inARow: number;
  isWarned: boolean;
  readonly failures: number[];
  readonly all: number[];
  bin: number;
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * Warns before a sender disables the endpoint, because of consecutive failures or a share of failures in a window.
 * To a sender, refusals are failures, as are answers of 500 and above.
 */
export class SwitchOffWatch {
  readonly #records = new Map<string, Answers>();
  /** The records that are warned of, in the order of the warnings. */
  readonly #warned = new Set<Answers>();

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
      const counts = { inARow: 0, isWarned: false, failures: zeros(), all: zeros(), bin: 0 };
      record = { sender: name, rule: switchOff, ...counts };
      this.#records.set(name, record);
    }
    record.rule = switchOff;
    noteAnswer(record, isFailure, nowMs);
    const nearness = nearnessOf(record);
    const wasWarned = record.isWarned;
    record.isWarned = nearness >= 1 || (wasWarned && isNear(nearness));
    if (record.isWarned === wasWarned) return false;
    if (wasWarned) this.#warned.delete(record);
    else this.#warned.add(record);
    return record.isWarned;
  }

  /** The senders that are warned of, until better answers, or until the failures are older than the sender's window. */
  endangered(nowMs: number): readonly string[] {
    if (this.#warned.size === 0) return NONE;
    const senders: string[] = [];
    for (const record of this.#warned) {
      moveOn(record, nowMs);
      if (isNear(nearnessOf(record))) senders.push(record.sender);
    }
    return senders;
  }
}

function isNear(nearness: number): boolean {
  return nearness > CALM_AT / WARN_AT;
}

/** 1 and above: near enough for a warning. */
function nearnessOf(record: Answers): number {
  return Math.max(nearnessOfRow(record), nearnessOfRatio(record));
}

function nearnessOfRow({ inARow, rule }: Answers): number {
  return rule.inARow === undefined ? 0 : inARow / Math.max(1, Math.floor(rule.inARow * WARN_AT));
}

function nearnessOfRatio({ rule: { ratio, windowS }, all, failures }: Answers): number {
  if (ratio === undefined || windowS === undefined) return 0;
  const answers = sum(all);
  return answers < ENOUGH ? 0 : sum(failures) / answers / (ratio * WARN_AT);
}

function noteAnswer(record: Answers, isFailure: boolean, nowMs: number): void {
  record.inARow = isFailure ? record.inARow + 1 : 0;
  moveOn(record, nowMs);
  const slot = record.bin % BINS;
  record.all[slot] = (record.all[slot] ?? 0) + 1;
  if (isFailure) record.failures[slot] = (record.failures[slot] ?? 0) + 1;
}

/** Empties the bins of a ratio's window that have become too old. */
function moveOn(record: Answers, nowMs: number): void {
  const { windowS } = record.rule;
  if (windowS === undefined) return;
  const bin = Math.floor(nowMs / ((windowS * 1000) / BINS));
  for (let passed = Math.min(BINS, bin - record.bin); passed > 0; passed -= 1) {
    record.failures[(bin - passed + 1) % BINS] = 0;
    record.all[(bin - passed + 1) % BINS] = 0;
  }
  record.bin = bin;
}

function zeros(): number[] {
  return new Array<number>(BINS).fill(0);
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
