import { type Heaped, MinHeap } from '@webhook-backpressure/base';
import { type KeyLimit, PRIORITIES, UNLIMITED } from '../options/key-limits.ts';

/** How long the limits of a key apply before they are asked for again. A key without deliveries is forgotten then. */
export const LIMITS_MS = 10_000;

const NEVER = Infinity;
const LONG_AGO = -Infinity;

/** Until the limits of a key are known. */
export const UNKNOWN: KeyLimit = { ...UNLIMITED };

/** A key with deliveries, and when it may have its next turn. All times are on the monotonic clock. */
export class Turn implements Heaped {
  heapIndex = -1;
  readonly key: string;
  limit: KeyLimit = UNKNOWN;
  askedAtMs: number = LONG_AGO;
  /** When its next delivery is due; Infinity for never, as far as is known. */
  dueMs: number = NEVER;
  /** When the next token is there. */
  tokenAtMs: number = LONG_AGO;
  /** Until when nothing of the key starts, because a handler said so. */
  heldUntilMs: number = LONG_AGO;
  /** The delay of the next try when something is due, but may not be claimed yet. */
  recheckMs = 0;
  /** Deliveries that this process has claimed. */
  runs = 0;
  /** As many as it probably has: it doubles while a claim returns all that it asked for. */
  useful = 1;
  /** How many deliveries its turn has left: 0 when it has ended. */
  left = 0;
  /** While it is being claimed, it has no place. */
  isBusy = false;
  /** Whether more became due while it was being claimed. */
  isOutdated = false;
  /** Its place: its priority, the time of its turn, and which of those of the same time is first. */
  rank: number = UNKNOWN.rank;
  atMs: number = NEVER;
  order = 0;

  /** How many starts of new deliveries are behind `freshShare`. */
  #freshOwed = 0;

  constructor(key: string) {
    this.key = key;
  }

  /** Whether so many starts go to the newest deliveries. A claim has either them or those that arrived first. */
  takesNewest(count: number): boolean {
    const { freshShare } = this.limit;
    return freshShare > 0 && this.#freshOwed + count * freshShare >= count / 2;
  }

  /** A claim of so many has started some. */
  noteFresh(count: number, starts: number, areNewest: boolean): void {
    // Without enough new deliveries, the next claim has the others.
    if (areNewest && starts < count) this.#freshOwed = -count;
    else this.#freshOwed += starts * (this.limit.freshShare - Number(areNewest));
  }

  /** When its next delivery may start; Infinity: not before a run ends or a delivery arrives. */
  get startMs(): number {
    if (this.runs >= this.limit.maxConcurrent) return Infinity;
    return Math.max(this.dueMs, this.tokenAtMs, this.heldUntilMs);
  }

  /** When it may have a turn: also to be asked for its limits again, or to be forgotten. */
  get nextMs(): number {
    const againMs = this.askedAtMs + LIMITS_MS;
    if (this.dueMs < Infinity) return Math.min(this.startMs, Math.max(this.dueMs, againMs));
    return this.runs > 0 ? Infinity : Math.max(this.heldUntilMs, againMs);
  }

  /** Whether a delivery is due that the limits of the key do not let start. */
  isLimitedAt(nowMs: number): boolean {
    return this.dueMs <= nowMs && this.startMs > nowMs;
  }
}

/** The keys that have deliveries, by priority and by their next possible turn: the one that has waited longest is first. */
export class KeyTurns {
  readonly #turns = new Map<string, Turn>();
  readonly #heaps = PRIORITIES.map(
    () => new MinHeap<Turn>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)),
  );
  #count = 0;

  values(): Iterable<Turn> {
    return this.#turns.values();
  }

  find(key: string): Turn | undefined {
    return this.#turns.get(key);
  }

  at(key: string): Turn {
    let turn = this.#turns.get(key);
    if (turn === undefined) this.#turns.set(key, (turn = new Turn(key)));
    return turn;
  }

  /** A delivery of the key is due at this time. */
  due(key: string, atMs: number, nowMs: number): void {
    const turn = this.at(key);
    if (turn.isBusy) turn.isOutdated = true;
    if (atMs >= turn.dueMs) return;
    turn.dueMs = atMs;
    this.review(turn, nowMs);
  }

  /** Gives a key its place. One that waits for its turn keeps it. */
  review(turn: Turn, nowMs: number): void {
    if (turn.isBusy) return;
    const atMs = Math.max(turn.nextMs, nowMs);
    if (turn.heapIndex >= 0) {
      const isSameTime = turn.atMs === atMs || (turn.atMs <= nowMs && atMs <= nowMs);
      if (isSameTime && turn.rank === turn.limit.rank) return;
      this.#leave(turn);
    }
    if (atMs === Infinity) return;
    this.#count += 1;
    turn.order = this.#count;
    turn.atMs = atMs;
    turn.rank = turn.limit.rank;
    this.#heapOf(turn).push(turn);
  }

  /** The next key of a priority whose turn it is, without its place. */
  take(rank: number, nowMs: number): Turn | undefined {
    const top = this.#heaps[rank]?.top;
    if (top === undefined || top.atMs > nowMs) return undefined;
    this.#leave(top);
    return top;
  }

  /** Gives a key back the place that it had before {@link take}: its turn goes on. */
  putBack(turn: Turn): void {
    this.#heapOf(turn).push(turn);
  }

  /** The time of the next turn; Infinity for never. */
  get nextMs(): number {
    return Math.min(...this.#heaps.map(({ top }) => top?.atMs ?? Infinity));
  }

  forget(turn: Turn): void {
    this.#turns.delete(turn.key);
  }

  #leave(turn: Turn): void {
    this.#heapOf(turn).remove(turn);
    turn.heapIndex = -1;
  }

  #heapOf({ rank }: Turn): MinHeap<Turn> {
    return this.#heaps[rank] as MinHeap<Turn>;
  }
}
