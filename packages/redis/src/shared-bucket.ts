import type { BucketLimit } from '@webhook-backpressure/fleet';
import { shapeOf, type BucketShape } from './bucket-shape.ts';
import { Share, type Sharing } from './share.ts';
import type { TakeReply } from './take-script.ts';

/** Calls that follow each other so fast take more tokens than they need. */
const RUSH_MS = 50;
const CALM_MS = 200;
/** While tokens are scarce, the processes together call about once in this time. */
const CALL_EVERY_MS = 25;
/** A process that was too late for a token waits for its turn, but not longer than so. */
const MAX_TURN_MS = 500;
/** Multiples of it modulo 1 are spread evenly. */
const GOLDEN_RATIO = 0.618_033_988_75;
/** How long a level is believed that other processes change. */
const BELIEVED_MS = 2000;

/** The knowledge of a process about the bucket of one endpoint. */
export class SharedBucket {
  readonly name: string;
  limit: BucketLimit;
  shape: BucketShape;
  /** The part of this process while the server does not answer, and until all processes have noticed that it does again. */
  share: Share | undefined;
  /** Tokens of the share that the server does not know of: what it has saved meanwhile may not be used. */
  shared = 0;
  /** Whether the last tokens came from the share alone. */
  isFromShare = false;
  /** The losses of the server that the bucket there knows of. */
  losses = 0;
  /** Calls in a row that were not answered in time. */
  lates = 0;
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
  /** When the tokens that are held or were taken last came, on the clock of the server. */
  #takenAtUs = Infinity;
  /** When the oldest of the returned tokens was taken, on the clock of the server. */
  #returnedSinceUs = Infinity;
  #heldUntilMs = 0;
  #usableUntilMs = 0;
  #emptyUntilMs = 0;
  #left = 0;
  #leftAtMs = -Infinity;
  #batch = 1;
  #askedAtMs = -Infinity;
  #turn: number;

  /** @param turn - from 0 to below 1: different in each process, so that processes take turns. */
  constructor(name: string, limit: BucketLimit, turn: number) {
    this.#turn = turn;
    this.name = name;
    this.limit = limit;
    this.shape = shapeOf(limit);
  }

  /** Whether there is nothing to tell the server, and nothing to look after. */
  get isClean(): boolean {
    return (
      this.#held === 0 && this.returned === 0 && this.shared === 0 && !this.isPauseNew && this.calls === 0
    );
  }

  set(limit: BucketLimit): void {
    if (limit === this.limit) return;
    const { amount, periodMs, burst } = this.limit;
    this.limit = limit;
    if (limit.amount === amount && limit.periodMs === periodMs && limit.burst === burst) return;
    this.shape = shapeOf(limit);
  }

  /** Tokens go to the server with the next call. */
  giveBack(count: number, takenAtUs: number = this.#takenAtUs): void {
    if (count === 0) return;
    this.returned += count;
    this.#returnedSinceUs = Math.min(this.#returnedSinceUs, takenAtUs);
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
    if (taken > 0) {
      this.#usableUntilMs = this.#heldUntilMs;
      this.isFromShare = false;
    }
    return taken;
  }

  /** Tokens that were held for too long go back: used later, they would exceed the limit. */
  expire(nowMs: number): void {
    if (this.#held === 0 || nowMs <= this.#heldUntilMs) return;
    this.giveBack(this.#held);
    this.#held = 0;
    this.#batch = Math.max(1, this.#batch >> 1);
  }

  dropHeld(): void {
    this.giveBack(this.#held);
    this.#held = 0;
  }

  /** How many tokens to ask for: with a share not more than are used now. */
  batchFor(count: number, nowMs: number): number {
    if (this.share !== undefined) return count;
    const { perMs, holdMs, size } = this.shape;
    const sinceMs = nowMs - this.#askedAtMs;
    this.#askedAtMs = nowMs;
    if (sinceMs < RUSH_MS) this.#batch *= 2;
    else if (sinceMs > CALM_MS) this.#batch = 1;
    this.#batch = Math.max(1, Math.min(this.#batch, (perMs * holdMs) / 2, size / 2) | 0);
    return Math.max(count, this.#batch);
  }

  /** The arguments of a call, after the process. What it reports to the server counts as reported. */
  askFor(want: number, isEmptied: boolean, nowMs: number): string[] {
    const { amount, token, full } = this.shape;
    const pauseUs = this.isPauseNew ? Math.ceil(Math.max(0, this.pausedUntilMs - nowMs) * 1000) : 0;
    const sinceUs = this.returned === 0 ? 0 : this.#returnedSinceUs;
    const numbers = [
      amount,
      token,
      full,
      want,
      this.returned,
      pauseUs,
      this.fullAtUs,
      Number(isEmptied),
      sinceUs,
    ];
    this.returned = 0;
    this.#returnedSinceUs = Infinity;
    this.isPauseNew = false;
    return numbers.map(String);
  }

  /** @param want - tokens that the call asked for. */
  learn({ fullAtUs, left, waitUs, taken }: TakeReply, want: number, processes: number, nowMs: number): void {
    const { perMs, size } = this.shape;
    let moreMs = Math.max(0, Math.min(size / 2, perMs * CALL_EVERY_MS * processes) - 1) / perMs;
    if (want > 0 && taken === 0 && this.#emptyUntilMs > 0) {
      // Another process was faster. If all came at the same time again, each token would cost a call of each process.
      this.#turn = (this.#turn + GOLDEN_RATIO) % 1;
      const others = Math.min(processes, size) - 1;
      moreMs += Math.min(MAX_TURN_MS, (this.#turn * others) / perMs);
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
      this.giveBack(reply.taken, reply.nowUs);
      return 0;
    }
    const used = Math.min(count, reply.taken);
    if (this.#held === 0) this.#takenAtUs = reply.nowUs;
    this.share?.take(used, nowMs);
    this.isFromShare = false;
    this.#held += reply.taken - used;
    this.#heldUntilMs = this.#usableUntilMs = nowMs - tookMs + holdMs;
    return used;
  }

  /** The part of this process. */
  shareOf(sharing: Sharing, nowMs: number): Share {
    this.share ??= new Share(this.limit, sharing, nowMs);
    this.share.set(this.limit, nowMs);
    return this.share;
  }

  /** Takes from the part of this process without the server. */
  takeShare(count: number, sharing: Sharing, nowMs: number): { taken: number; waitMs: number } {
    const share = this.shareOf(sharing, nowMs);
    const taken = share.take(count, nowMs);
    this.shared += taken;
    this.isFromShare = true;
    return { taken, waitMs: share.waitMs(nowMs) };
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
