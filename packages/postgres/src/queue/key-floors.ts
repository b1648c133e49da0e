/** A claim that visits more index entries than this, and this many for each want and claim, is slow. */
const MANY = 5000;
const MANY_EACH = 10;
/** The share of time that slow looks may take, and the limits of the pause between two. */
const FULL_SHARE = 1 / 20;
const LEAST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 5000;
/** A delivery gets its due time at most so long before it can be seen: the time to commit, and what clocks may differ. */
const SEEN_AFTER_MS = 6000;
const MAX_KEYS = 10_000;

/** A place among the deliveries of a key. */
export interface Place {
  readonly dueMs: number;
  readonly seq: number;
}

/** The deliveries of one key that a claim reads. */
export interface KeyLook {
  /** Whether at everything; otherwise only at deliveries behind the floor that were never tried. */
  readonly isFull: boolean;
  readonly floor: Place;
}

/** The deliveries of one key that a claim has found. */
interface FoundInKey {
  readonly key: string;
  readonly isFull: boolean;
  readonly claims: number;
  /** Of the last one that was claimed and never stranded. */
  readonly last: Place | undefined;
}

interface SlowKey {
  readonly fullAgainMs: number;
  readonly floor: Place;
}

const NO_FLOOR: Place = { dueMs: -Infinity, seq: 0 };
const FULL: KeyLook = { isFull: true, floor: NO_FLOOR };

/**
 * Decides what claims look at in each key. They look at everything, unless that is slow: then something keeps PostgreSQL from
 * removing the index entries of claimed deliveries, mostly a transaction that is left open, and a scan passes all of them.
 *
 * Between slow looks at a key, others look at the deliveries behind those that this process has claimed. Retries, deliveries
 * given back and those of dead owners wait for the next look at everything, at most 5 s.
 */
export class KeyFloors {
  readonly #slow = new Map<string, SlowKey>();

  /** @param nowMs - the time of the server, as the caller knows it. It may jump. */
  lookAt(key: string, nowMs: number): KeyLook {
    const slow = this.#slow.get(key);
    if (slow === undefined || nowMs >= slow.fullAgainMs || nowMs < slow.fullAgainMs - MOST_PAUSE_MS)
      return FULL;
    return { isFull: false, floor: slow.floor };
  }

  /** When a look at everything in this key is due; undefined if every look is one. */
  fullAgainMs(key: string): number | undefined {
    return this.#slow.get(key)?.fullAgainMs;
  }

  /** @param tookMs - on a monotonic clock. */
  note(found: readonly FoundInKey[], visited: number, nowMs: number, tookMs: number): void {
    const claims = found.reduce((sum, one) => sum + one.claims, 0);
    const isSlow = visited > MANY + MANY_EACH * (found.length + claims);
    if (!isSlow && this.#slow.size === 0) return;
    const pauseMs = Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, tookMs / FULL_SHARE));
    for (const { key, isFull, last } of found) {
      const slow = this.#slow.get(key);
      this.#slow.delete(key);
      if (isFull && !isSlow) continue;
      const floor = last ?? (isFull ? { dueMs: nowMs - SEEN_AFTER_MS, seq: 0 } : (slow?.floor ?? NO_FLOOR));
      this.#slow.set(key, { fullAgainMs: isFull ? nowMs + pauseMs : (slow?.fullAgainMs ?? nowMs), floor });
    }
    for (const key of this.#slow.keys()) {
      if (this.#slow.size <= MAX_KEYS) break;
      this.#slow.delete(key);
    }
  }
}
