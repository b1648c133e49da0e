import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { KeyTokens } from './key-tokens.ts';
import type { KeyTurns, Turn } from './key-turns.ts';
import type { SuspectRoom } from './crash-suspects.ts';
import { PriorityShares } from './priority-shares.ts';

/** Keys of one call of the store. */
const MAX_WANTS = 1000;
const NEVER = Infinity;

/** What may be claimed in one call. */
export interface ClaimRoom {
  /** At least 1. */
  readonly count: number;
  /** The most that this process may have of a key, now. */
  readonly roomOf: (key: string) => number;
  readonly suspects: SuspectRoom;
}

/** What a call is to claim of one key. */
export interface Want {
  readonly turn: Turn;
  count: number;
  readonly room: number;
  /** The limit that its tokens were taken from; undefined: it needs none. */
  readonly rate: BucketLimit | undefined;
}

/** Chooses the keys of each claim. */
export class KeyWants {
  readonly #turns: KeyTurns;
  readonly #tokens: KeyTokens;
  readonly #now: () => number;
  readonly shares: PriorityShares = new PriorityShares();
  /** Of keys that wait for their limits only, after the last choice. */
  nextTurnMs: number = NEVER;

  constructor(turns: KeyTurns, tokens: KeyTokens, now: () => number) {
    this.#turns = turns;
    this.#tokens = tokens;
    this.#now = now;
  }

  /** The keys whose turn it is, with the counts that they may have. */
  next({ count, roomOf }: Pick<ClaimRoom, 'count' | 'roomOf'>): Want[] {
    const wants: Want[] = [];
    const passed: Turn[] = [];
    this.shares.divide(count, (rank, most) => this.#addWants(wants, passed, rank, { count: most, roomOf }));
    this.nextTurnMs = this.#turns.nextMs;
    // They wait for something else than their limits, and keep their turns.
    for (const turn of passed) this.#turns.putBack(turn);
    return wants;
  }

  /** Adds wants for keys of one priority. Returns how many deliveries they are. */
  #addWants(
    wants: Want[],
    passed: Turn[],
    rank: number,
    { count, roomOf }: Pick<ClaimRoom, 'count' | 'roomOf'>,
  ): number {
    const nowMs = this.#now();
    let left = count;
    while (left > 0 && wants.length < MAX_WANTS) {
      const turn = this.#turns.take(rank, nowMs);
      if (turn === undefined) break;
      if (this.#isForgotten(turn, nowMs)) continue;
      this.#tokens.ask(turn, nowMs);
      if (turn.startMs > nowMs || turn.limit.rank !== rank) {
        this.#turns.review(turn, nowMs);
        continue;
      }
      const { weight, rate, maxConcurrent } = turn.limit;
      // Not many more than there are: others cannot have tokens that this process holds, if only for a moment.
      const useful = Math.max(weight, turn.useful);
      const room = Math.min(useful, roomOf(turn.key), maxConcurrent - turn.runs);
      if (room <= 0) {
        passed.push(turn);
        continue;
      }
      if (turn.left === 0) turn.left = weight;
      const most = Math.min(turn.left, room, left);
      turn.isBusy = true;
      turn.isOutdated = false;
      wants.push({ turn, count: most, room, rate });
      left -= most;
    }
    const ofRank = wants.filter(({ turn }) => turn.limit.rank === rank);
    return count - fill(ofRank, left);
  }

  #isForgotten(turn: Turn, nowMs: number): boolean {
    if (turn.dueMs < Infinity || turn.runs > 0 || turn.heldUntilMs > nowMs) return false;
    this.#turns.forget(turn);
    this.#tokens.forget(turn.key);
    return true;
  }
}

/**
 * Distributes the free workers that remain after all keys had their turn, in proportion to the weights. Returns how many
 * remain.
 */
function fill(wants: readonly Want[], count: number): number {
  let left = count;
  let open = wants.filter((want) => want.count < want.room);
  while (left > 0 && open.length > 0) {
    for (const want of open) {
      const more = Math.min(left, want.turn.limit.weight, want.room - want.count);
      want.count += more;
      left -= more;
    }
    open = open.filter((want) => want.count < want.room);
  }
  return left;
}
