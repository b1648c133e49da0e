/** A full claim that visits more index entries than this is slow: it takes more than 2 ms. */
const MANY = 5000;
/** The share of time that slow full claims may take, and how long others may look at a part of the queue only. */
const FULL_SHARE = 1 / 20;
const LEAST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 5000;
/** A put that takes longer to commit is found by the next full claim. */
const COMMITTED_AFTER_MS = 250;
/** A key gets a floor when so many entries were visited before its first delivery. */
const MANY_IN_KEY = 50;
/** With more keys than that, no key has many entries of claimed deliveries. */
const MAX_FLOORS = 64;

/** The delivery of a key that was claimed last. */
interface Floor {
  readonly dueMs: number;
  readonly seq: number;
}

/** What a claim looks at. */
export interface Scan {
  readonly isFull: boolean;
  /** Only deliveries stored after this one; null: any. */
  readonly after: number | null;
  /** In these keys only deliveries behind the floor. */
  readonly floors: ReadonlyMap<string, Floor>;
}

/** What a claim has found. */
interface Found {
  readonly scan: Scan;
  /** Whether it returned fewer deliveries than it was asked for. */
  readonly isShort: boolean;
  /** Whether it skipped keys, so that a short claim does not prove that nothing is due. */
  readonly hasSkipped: boolean;
  readonly turns: readonly (Floor & { readonly key: string; readonly visited: number })[];
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

const NO_FLOORS: ReadonlyMap<string, Floor> = new Map<string, Floor>();
const FULL: Scan = { isFull: true, after: null, floors: NO_FLOORS };

/**
 * Decides what each claim looks at. Every claim is a full one, unless these are slow: then something keeps PostgreSQL from
 * removing the index entries of claimed deliveries, mostly a transaction that is left open, and a scan passes all of them.
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
  #floors = new Map<string, Floor>();
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
    if (!this.#isSlow || nowMs >= this.#fullAgainMs || nowMs < this.#fullMs) return FULL;
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
      const pauseMs = (endedMs - startedMs) / FULL_SHARE;
      this.#fullAgainMs = nowMs + Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, pauseMs));
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
    for (const key of this.#floors.keys()) {
      if (this.#floors.size <= MAX_FLOORS) break;
      this.#floors.delete(key);
    }
  }
}
