import type { SwitchOffRule } from '@webhook-backpressure/senders';

const BINS = 600;

/** Counts the answers and the failures of the last `windowMs`, to within a bin of 1/600 of it. */
class AnswerWindow {
  answers = 0;
  failures = 0;
  readonly #binMs: number;
  readonly #answers = new Uint32Array(BINS);
  readonly #failures = new Uint32Array(BINS);
  /** The number of the newest bin, from the beginning of the run. */
  #bin = 0;

  constructor(windowMs: number) {
    this.#binMs = windowMs / BINS;
  }

  add(isFailure: boolean, nowMs: number): void {
    const bin = Math.floor(nowMs / this.#binMs);
    for (let passed = Math.min(BINS, bin - this.#bin); passed > 0; passed -= 1) this.#empty(bin - passed + 1);
    this.#bin = bin;
    const slot = bin % BINS;
    this.#answers[slot] = (this.#answers[slot] as number) + 1;
    this.answers += 1;
    if (!isFailure) return;
    this.#failures[slot] = (this.#failures[slot] as number) + 1;
    this.failures += 1;
  }

  clear(): void {
    this.#answers.fill(0);
    this.#failures.fill(0);
    this.answers = 0;
    this.failures = 0;
  }

  #empty(bin: number): void {
    const slot = bin % BINS;
    this.answers -= this.#answers[slot] as number;
    this.failures -= this.#failures[slot] as number;
    this.#answers[slot] = 0;
    this.#failures[slot] = 0;
  }
}

/** The default of {@link SwitchOffRule.minAnswers}. */
const MIN_ANSWERS = 20;

/** Whether `inARow` counts the failures of the endpoint, or those of one delivery. */
type RowOf = 'endpoint' | 'delivery';

/** The endpoint of a sender: the sender disables it after failures, by the rule of its profile. */
export class Endpoint {
  /** How often the sender has disabled it. */
  switchedOff = 0;
  /** When it did so for the first time; NaN if it never did. */
  firstOffMs: number;
  /** Attempts that were due while it was disabled, so that their deliveries were lost. */
  missed = 0;
  readonly #rule: SwitchOffRule;
  readonly #rowOf: RowOf;
  readonly #window: AnswerWindow | undefined;
  #inARow = 0;
  #offUntilMs = -Infinity;
  /** The index into `offS` of the next time. */
  #next = 0;

  constructor(rule: SwitchOffRule = {}, rowOf: RowOf = 'endpoint') {
    this.firstOffMs = NaN;
    this.#rule = rule;
    this.#rowOf = rowOf;
    this.#window = rule.windowS === undefined ? undefined : new AnswerWindow(rule.windowS * 1000);
  }

  isOff(nowMs: number): boolean {
    return nowMs < this.#offUntilMs;
  }

  /** A success ends the row of failures, and the next time off is the shortest again. */
  succeeded(nowMs: number): void {
    if (this.isOff(nowMs)) return;
    this.#inARow = 0;
    this.#next = 0;
    this.#window?.add(false, nowMs);
  }

  /**
   * Notes a failed attempt. Those of a disabled endpoint don't count.
   *
   * @param attempts - how many attempts of the same delivery have failed, including this one.
   */
  failed(attempts: number, nowMs: number): void {
    if (this.isOff(nowMs)) return;
    this.#inARow += 1;
    this.#window?.add(true, nowMs);
    if (!this.#isTooMuch(attempts)) return;
    const { offS = [] } = this.#rule;
    const seconds = offS[Math.min(this.#next, offS.length - 1)] ?? Infinity;
    this.#next += 1;
    this.#switchOff(seconds, nowMs);
  }

  /** The sender disables it until someone enables it, whatever its rule says. */
  gone(nowMs: number): void {
    if (!this.isOff(nowMs)) this.#switchOff(Infinity, nowMs);
  }

  #isTooMuch(attempts: number): boolean {
    const { inARow = Infinity, ratio = Infinity, count = Infinity, minAnswers = MIN_ANSWERS } = this.#rule;
    // After the time off the row goes on, so that one more failure disables the endpoint again.
    if ((this.#rowOf === 'endpoint' ? this.#inARow : attempts) >= inARow) return true;
    if (this.#window === undefined) return false;
    const { answers, failures } = this.#window;
    return failures >= count || (answers >= minAnswers && failures / answers >= ratio);
  }

  #switchOff(seconds: number, nowMs: number): void {
    this.#offUntilMs = nowMs + seconds * 1000;
    this.#window?.clear();
    this.switchedOff += 1;
    if (this.switchedOff === 1) this.firstOffMs = nowMs;
  }
}
