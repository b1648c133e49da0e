/**
 * A scan that visits more index entries than this takes more than 2 ms: something keeps PostgreSQL from removing the
 * entries of claimed deliveries, mostly a transaction that is left open, and a scan passes all of them.
 */
const MANY = 5000;
/** A claim of named keys may visit this many more for each want and claim. */
const MANY_EACH = 10;
/** The share of time that slow full claims may take, and how long others may look at a part of the queue only. */
const FULL_SHARE = 1 / 20;
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 5000;
/** A put that takes longer to commit is found by the next full claim. */
const COMMITTED_AFTER_MS = 250;
/** A delivery gets its due time at most so long before it can be seen: the time to commit, and what clocks may differ. */
const SEEN_AFTER_MS = 6000;
/** A key gets a floor when so many entries were visited before its first delivery. */
const MANY_IN_KEY = 50;
/** With more keys than that, no key has many entries of claimed deliveries. */
const MAX_FLOORS = 64;
const MAX_SLOW_KEYS = 10_000;

/** A place among the deliveries of a key. */
export interface Place {
  readonly dueMs: number;
  readonly seq: number;
}

/** What a claim looks at. */
export interface Scan {
  readonly isFull: boolean;
  /** Only deliveries stored after this one; null: any. */
  readonly after: number | null;
  /** In these keys only deliveries behind the one that was claimed last. */
  readonly floors: ReadonlyMap<string, Place>;
}

/** What a claim has found. */
interface Found {
  readonly scan: Scan;
  /** Whether it returned fewer deliveries than it was asked for. */
  readonly isShort: boolean;
  /** Whether it skipped keys, so that a short claim does not prove that nothing is due. */
  readonly hasSkipped: boolean;
  readonly turns: readonly (Place & { readonly key: string; readonly visited: number })[];
  readonly visited: number;
  /** The delivery stored last, committed or not. */
  readonly lastSeq: number;
  readonly nowMs: number;
  /** On a monotonic clock. */
  readonly startedMs: number;
  readonly endedMs: number;
}

interface Sample {
  readonly atMs: number;
  readonly seq: number;
}

const NO_FLOORS: ReadonlyMap<string, Place> = new Map<string, Place>();
const FULL_SCAN: Scan = { isFull: true, after: null, floors: NO_FLOORS };

/**
 * Decides what each claim looks at. Every claim is a full one, unless these are slow.
 *
 * Between slow full claims, others look at what was stored since, if nothing was left; else each key at the deliveries
 * behind those that this process has claimed. Retries, deliveries given back and those of dead owners wait for the next
 * full claim, at most 5 s.
 */
export class ScanPlan {
  #isSlow = false;
  #isDrained = false;
  #wasShort = false;
  #fullMs = -Infinity;
  #fullAgainMs = -Infinity;
  #floors = new Map<string, Place>();
  #after: number | null = null;
  #sample: Sample | undefined;
  #committed: Sample | undefined;

  /**
   * When a delivery may be claimed, as far as the last claims tell: immediately if there were more than the last one asked
   * for, else with the next full claim. Undefined while all claims are full.
   */
  get nextDueMs(): number | undefined {
    if (!this.#isSlow) return undefined;
    return this.#wasShort ? this.#fullAgainMs : 0;
  }

  /** @param nowMs - the time of the caller. It may jump. */
  next(nowMs: number, isAnySkipped: boolean): Scan {
    if (!this.#isSlow || nowMs >= this.#fullAgainMs || nowMs < this.#fullMs) return FULL_SCAN;
    if (this.#isDrained && !isAnySkipped && this.#after !== null)
      return { isFull: false, after: this.#after, floors: NO_FLOORS };
    return { isFull: false, after: null, floors: this.#floors };
  }

  note(found: Found): void {
    const { scan, isShort, hasSkipped, visited, lastSeq, nowMs, startedMs, endedMs } = found;
    this.#wasShort = isShort;
    if (scan.isFull) {
      this.#isSlow = visited > MANY;
      this.#fullMs = nowMs;
      this.#fullAgainMs = nowMs + pauseAfter(endedMs - startedMs);
      this.#floors = new Map();
    }
    if (scan.isFull || scan.after !== null) this.#isDrained = isShort && !hasSkipped;
    if (this.#isSlow) this.#raiseFloors(found.turns);
    // A number that was the last one a while ago: puts up to it have been committed, and this claim has seen them.
    if (this.#sample === undefined || startedMs - this.#sample.atMs >= COMMITTED_AFTER_MS) {
      this.#committed = this.#sample;
      this.#sample = { atMs: endedMs, seq: lastSeq };
    }
    if (this.#isDrained) this.#after = this.#committed?.seq ?? null;
  }

  #raiseFloors(turns: Found['turns']): void {
    for (const { key, dueMs, seq, visited } of turns) {
      if (visited > MANY_IN_KEY || this.#floors.has(key)) {
        this.#floors.delete(key);
        this.#floors.set(key, { dueMs, seq });
      }
    }
    dropOldest(this.#floors, MAX_FLOORS);
  }
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

/** A claim of named keys. */
interface KeyScan {
  readonly visited: number;
  /** The time of the server, as the caller knows it. */
  readonly nowMs: number;
  /** On a monotonic clock. */
  readonly tookMs: number;
  readonly isNewest: boolean;
}

interface SlowKey {
  readonly fullAgainMs: number;
  readonly floor: Place;
}

const NO_FLOOR: Place = { dueMs: -Infinity, seq: 0 };
const FULL_LOOK: KeyLook = { isFull: true, floor: NO_FLOOR };

/** Decides what claims of named keys look at, as {@link ScanPlan} does for claims of any: in each key for itself. */
export class KeyFloors {
  readonly #slow = new Map<string, SlowKey>();
  /** Until when new deliveries are not looked for from the latest on: such a look passes those claimed before. */
  #newestAgainMs = -Infinity;

  /** Whether a claim may take the latest deliveries first; otherwise it takes the earliest. */
  mayStartNewest(looks: readonly KeyLook[], nowMs: number): boolean {
    const isOver = nowMs >= this.#newestAgainMs || nowMs < this.#newestAgainMs - MAX_PAUSE_MS;
    return isOver && looks.every(({ isFull }) => isFull);
  }

  /** @param nowMs - the time of the server, as the caller knows it. It may jump. */
  lookAt(key: string, nowMs: number): KeyLook {
    const slow = this.#slow.get(key);
    if (slow === undefined || nowMs >= slow.fullAgainMs || nowMs < slow.fullAgainMs - MAX_PAUSE_MS)
      return FULL_LOOK;
    return { isFull: false, floor: slow.floor };
  }

  /** When a look at everything in this key is due; undefined if every look is one. */
  fullAgainMs(key: string): number | undefined {
    return this.#slow.get(key)?.fullAgainMs;
  }

  note(found: readonly FoundInKey[], { visited, nowMs, tookMs, isNewest }: KeyScan): void {
    const claims = found.reduce((sum, one) => sum + one.claims, 0);
    const isSlow = visited > MANY + MANY_EACH * (found.length + claims);
    if (isNewest) {
      if (isSlow) this.#newestAgainMs = nowMs + pauseAfter(tookMs);
      return;
    }
    if (!isSlow && this.#slow.size === 0) return;
    for (const { key, isFull, last } of found) {
      const slow = this.#slow.get(key);
      this.#slow.delete(key);
      if (isFull && !isSlow) continue;
      const floor = last ?? (isFull ? { dueMs: nowMs - SEEN_AFTER_MS, seq: 0 } : (slow?.floor ?? NO_FLOOR));
      const fullAgainMs = isFull ? nowMs + pauseAfter(tookMs) : (slow?.fullAgainMs ?? nowMs);
      this.#slow.set(key, { fullAgainMs, floor });
    }
    dropOldest(this.#slow, MAX_SLOW_KEYS);
  }
}

/** Keeps an answer that was slow, so that a caller that asks twice a second does not wait for it each time. */
export class SlowAnswer<T> {
  #kept: { readonly answer: T; readonly untilMs: number } | undefined;

  /** The last answer, if it was slow and is recent. */
  get recent(): T | undefined {
    const kept = this.#kept;
    return kept !== undefined && performance.now() < kept.untilMs ? kept.answer : undefined;
  }

  note(answer: T, visited: number): void {
    this.#kept = visited > MANY ? { answer, untilMs: performance.now() + MAX_PAUSE_MS } : undefined;
  }

  forget(): void {
    this.#kept = undefined;
  }
}

function pauseAfter(tookMs: number): number {
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, tookMs / FULL_SHARE));
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
