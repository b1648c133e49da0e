import { type BucketLimit, TokenLevel } from '@webhook-backpressure/fleet';

/** How the rates are divided while the server is away. */
export interface Sharing {
  /** Among how many processes. */
  readonly sharers: number;
  /** Among them, from 0. */
  readonly rank: number;
  /** The clock of the server, less that of this process. */
  readonly aheadMs: number;
}

/** A share saves the tokens of so long. */
const SAVES_MS = 100;
const SECOND_MS = 1000;
/** The part of a slot in which its token can be used. */
const USABLE = 0.25;
/** More than a year has milliseconds ÷ a token has: a rate in integers. */
const PRECISION = 1_000_000;

/**
 * The part of a process. It starts without a token, because those of the server may all have been used just now. The starts
 * of all processes together stay within burst + rate in any second:
 *
 * - With at least one token of the burst for each process, each saves its part of the burst.
 * - With fewer, each saves one token, and the rate is lower by what these exceed the burst.
 * - If that would take too much of the rate, nothing is saved. Each process has a slot by the clock of the server, one after
 *   the other, as the tokens of the server come.
 */
export class Share {
  readonly #sharing: Sharing;
  #limit: BucketLimit;
  #level: TokenLevel | undefined;
  #perMs = 0;
  /** The last slot that was used, or is too early. */
  #lastSlot: number;

  constructor(limit: BucketLimit, sharing: Sharing, nowMs: number) {
    this.#limit = limit;
    this.#sharing = sharing;
    this.#set(limit, nowMs);
    this.#lastSlot = Math.ceil(this.#slotAt(nowMs)) + 1;
  }

  /** The same part of another limit. */
  set(limit: BucketLimit, nowMs: number): void {
    if (limit === this.#limit) return;
    const slot = this.#slotAt(nowMs);
    this.#set(limit, nowMs);
    if (this.#perMs > 0) this.#lastSlot = Math.ceil(this.#slotAt(nowMs)) + (this.#lastSlot >= slot ? 1 : 0);
  }

  tokens(nowMs: number): number {
    if (this.#level !== undefined) return this.#level.tokens(nowMs);
    const slot = this.#slotAt(nowMs);
    const whole = Math.floor(slot);
    const isOwn = whole % this.#sharing.sharers === this.#sharing.rank;
    return isOwn && whole > this.#lastSlot && slot - whole < USABLE ? 1 : 0;
  }

  take(count: number, nowMs: number): number {
    if (this.#level !== undefined) return this.#level.take(count, nowMs);
    const taken = Math.min(count, this.tokens(nowMs));
    if (taken > 0) this.#lastSlot = Math.floor(this.#slotAt(nowMs));
    return taken;
  }

  /** Returns tokens that were not used. A slot cannot be returned. */
  giveBack(count: number): void {
    this.#level?.giveBack(count);
  }

  waitMs(nowMs: number): number {
    if (this.#level !== undefined) return this.#level.waitMs(1, nowMs);
    if (this.tokens(nowMs) > 0) return 0;
    const { sharers, rank } = this.#sharing;
    const slot = this.#slotAt(nowMs);
    const from = Math.max(Math.floor(slot), this.#lastSlot) + 1;
    const next = from + ((rank - (from % sharers) + sharers) % sharers);
    return Math.max(1, (next - slot) / this.#perMs);
  }

  #slotAt(nowMs: number): number {
    return (nowMs + this.#sharing.aheadMs) * this.#perMs;
  }

  #set(limit: BucketLimit, nowMs: number): void {
    const { amount, periodMs, burst } = limit;
    const { sharers } = this.#sharing;
    this.#limit = limit;
    const perMs = amount / periodMs;
    const missing = Math.max(0, sharers - burst);
    const isSlotted = missing > 0 && perMs * SECOND_MS < 2 * sharers;
    this.#perMs = isSlotted ? perMs : 0;
    if (isSlotted) {
      this.#level = undefined;
      return;
    }
    const saved = Math.min((perMs * SAVES_MS) / sharers, burst / sharers);
    const part = {
      amount: Math.max(1, Math.floor((perMs - missing / SECOND_MS) * PRECISION)),
      periodMs: PRECISION * sharers,
      burst: Math.max(1, Math.floor(saved)),
    };
    if (this.#level === undefined) this.#level = new TokenLevel(part, nowMs, 0);
    else this.#level.set(part, nowMs);
  }
}
