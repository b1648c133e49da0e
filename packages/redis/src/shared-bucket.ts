import type { BucketLimit } from '@webhook-backpressure/core';
import { TokenLevel } from '@webhook-backpressure/core/parts';
import { shapeOf, type BucketShape } from './bucket-shape.ts';
import type { TakeReply } from './take-script.ts';

/** Calls that follow each other so fast take more tokens than they need. */
const RUSH_MS = 50;
const CALM_MS = 200;
/** While tokens are scarce, the processes together call about once in this time. */
const CALL_EVERY_MS = 25;
/** A process that was too late for a token waits for its turn, but not longer than so. */
const LONGEST_TURN_MS = 500;
/** Multiples of it modulo 1 are spread evenly. */
const GOLDEN_RATIO = 0.618_033_988_75;
/** A share saves the tokens of so long: after a loss all processes have one, and the bucket on the server as well. */
const SHARE_SAVES_MS = 100;
/** How long a level is believed that other processes change. */
const BELIEVED_MS = 2000;

/** What a process knows of the bucket of one endpoint. */
export class SharedBucket {
  readonly name: string;
  limit: BucketLimit;
  shape: BucketShape;
  /** The part of this process while the server does not answer. */
  share: TokenLevel | undefined;
  /** No call before this time, because one failed. */
  retryAtMs = 0;
  failures = 0;
  /** Tokens to return to the server with the next call. */
  returned = 0;
  /** Until when the endpoint is paused; 0 for never. */
  pausedUntilMs = 0;
  /** Whether the server does not know the pause yet. */
  isPauseNew = false;
  /** When the bucket will be full, on the clock of the server. */
  fullAtUs = 0;
  /** Calls under way. */
  calls = 0;
  isForgotten = false;

  /** Tokens that were taken from the server and not used yet. */
  #held = 0;
  #heldUntilMs = 0;
  #usableUntilMs = 0;
  #emptyUntilMs = 0;
  #left = 0;
  #leftAtMs = -Infinity;
  #batch = 1;
  #askedAtMs = -Infinity;
  #turn = Math.random();

  constructor(name: string, limit: BucketLimit) {
    this.name = name;
    this.limit = limit;
    this.shape = shapeOf(limit);
  }

  /** Whether there is nothing to tell the server, and nothing to look after. */
  get isClean(): boolean {
    return this.#held === 0 && this.returned === 0 && !this.isPauseNew && this.calls === 0;
  }

  set(limit: BucketLimit): void {
    if (limit === this.limit) return;
    const { amount, periodMs, burst } = this.limit;
    this.limit = limit;
    if (limit.amount === amount && limit.periodMs === periodMs && limit.burst === burst) return;
    this.shape = shapeOf(limit);
  }

  /** How long no token can be there for sure. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.pausedUntilMs - nowMs, this.#emptyUntilMs - nowMs);
  }

  /** Whether the tokens of the last take are too old to be used. */
  isStale(nowMs: number): boolean {
    return nowMs > this.#usableUntilMs;
  }

  takeHeld(count: number, nowMs: number): number {
    this.expire(nowMs);
    const taken = Math.min(count, this.#held);
    this.#held -= taken;
    if (taken > 0) this.#usableUntilMs = this.#heldUntilMs;
    return taken;
  }

  /** Tokens that were held for too long go back: used later, they would exceed the limit. */
  expire(nowMs: number): void {
    if (this.#held === 0 || nowMs <= this.#heldUntilMs) return;
    this.returned += this.#held;
    this.#held = 0;
    this.#batch = Math.max(1, this.#batch >> 1);
  }

  dropHeld(): void {
    this.returned += this.#held;
    this.#held = 0;
  }

  /** How many tokens to ask for. */
  batchFor(count: number, nowMs: number): number {
    const { perMs, holdMs, size } = this.shape;
    const sinceMs = nowMs - this.#askedAtMs;
    this.#askedAtMs = nowMs;
    if (sinceMs < RUSH_MS) this.#batch *= 2;
    else if (sinceMs > CALM_MS) this.#batch = 1;
    this.#batch = Math.max(1, Math.min(this.#batch, (perMs * holdMs) / 2, size / 2) | 0);
    return Math.max(count, this.#batch);
  }

  /** @param want - tokens that the call asked for. */
  learn({ fullAtUs, left, waitUs, taken }: TakeReply, want: number, processes: number, nowMs: number): void {
    const { perMs, size } = this.shape;
    let moreMs = Math.max(0, Math.min(size / 2, perMs * CALL_EVERY_MS * processes) - 1) / perMs;
    if (want > 0 && taken === 0 && this.#emptyUntilMs > 0) {
      // Another process was faster. If all came at the same time again, each token would cost a call of each process.
      this.#turn = (this.#turn + GOLDEN_RATIO) % 1;
      const others = Math.min(processes, size) - 1;
      moreMs += Math.min(LONGEST_TURN_MS, (this.#turn * others) / perMs);
    }
    this.#emptyUntilMs = waitUs > 0 ? nowMs + waitUs / 1000 + moreMs : 0;
    this.fullAtUs = fullAtUs;
    this.#left = left;
    this.#leftAtMs = nowMs;
  }

  /** @returns Tokens of the reply that are used now. */
  answered(reply: TakeReply, count: number, tookMs: number, nowMs: number): number {
    const { holdMs } = this.shape;
    if (tookMs > holdMs) {
      this.returned += reply.taken;
      return 0;
    }
    const used = Math.min(count, reply.taken);
    this.#held += reply.taken - used;
    this.#heldUntilMs = this.#usableUntilMs = nowMs - tookMs + holdMs;
    return used;
  }

  takeShare(
    count: number,
    { sharers: processes, phase }: { readonly sharers: number; readonly phase: number },
    nowMs: number,
  ): { taken: number; waitMs: number } {
    const { amount, periodMs } = this.limit;
    const perProcess = periodMs * processes;
    const burst = Math.max(1, Math.floor((amount * SHARE_SAVES_MS) / perProcess));
    const limit = { amount, periodMs: perProcess, burst };
    // It starts without a token, because those of the server may all have been used just now.
    this.share ??= new TokenLevel(limit, nowMs, phase);
    this.share.set(limit, nowMs);
    const taken = this.share.take(count, nowMs);
    return { taken, waitMs: this.share.waitMs(1, nowMs) };
  }

  peek(nowMs: number): number | null {
    if (this.pausedUntilMs > nowMs) return 0;
    if (this.share !== undefined) return this.share.tokens(nowMs);
    const held = nowMs <= this.#heldUntilMs ? this.#held : 0;
    const sinceMs = nowMs - this.#leftAtMs;
    if (sinceMs > BELIEVED_MS) return null;
    return held + Math.floor(Math.min(this.shape.size, this.#left + sinceMs * this.shape.perMs));
  }
}
