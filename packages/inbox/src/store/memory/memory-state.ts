import { type Heaped, MinHeap } from '@webhook-backpressure/base';
import type {
  ClaimedDelivery,
  ClaimOptions,
  DueKey,
  DueKeys,
  InboxStore,
  KeyClaim,
  KeyClaimOptions,
  KeyWant,
  StoreStats,
} from '../inbox-store.ts';
import { type Entry, isDueBefore, type Owner, Pile, type Slot } from './entry.ts';

type Lease = Pick<ClaimOptions, 'leaseMs' | 'nowMs'>;

/** The unfinished deliveries of one key. */
class Line implements Heaped {
  heapIndex = 0;
  /** Whether it has something due, or will have; undefined while it is paused or nothing waits. */
  place: 'due' | 'later' | undefined;
  /** Its neighbors among the keys that have something due: a key may leave from any position. */
  previous: Line = this;
  next: Line = this;
  readonly key: string;
  /** Higher than that of each line before it. */
  readonly number: number;
  /** In an ordered store: the only delivery that can be claimed. The others are neither waiting nor stranded. */
  head: Entry | undefined;
  claimed = 0;
  /** Deliveries that can be claimed, now or later, and were never stranded. */
  readonly waiting = new MinHeap<Entry>(isDueBefore);
  readonly all = new Set<Entry>();
  /** {@link all} by their order, from the first call of {@link oldest} on: most stores never ask, and a heap is slower. */
  #byOrder: MinHeap<Slot> | undefined;
  /** Fresh waiting deliveries, from the first call of {@link newest} on. */
  #byNewest: MinHeap<Slot> | undefined;

  constructor(key: string, number: number) {
    this.key = key;
    this.number = number;
  }

  /** The delivery that was stored first. */
  oldest(): Entry | undefined {
    if (this.#byOrder === undefined) {
      this.#byOrder = new MinHeap<Slot>((a, b) => a.entry.order < b.entry.order);
      for (const { byOrder } of this.all) this.#byOrder.push(byOrder);
    }
    return this.#byOrder.top?.entry;
  }

  /** The fresh waiting delivery that is due last. */
  newest(): Entry | undefined {
    if (this.#byNewest === undefined) {
      this.#byNewest = new MinHeap<Slot>((a, b) => isDueBefore(b.entry, a.entry));
      for (const entry of this.waiting.items) if (entry.isFresh) this.#byNewest.push(entry.byNewest);
    }
    return this.#byNewest.top?.entry;
  }

  wait(entry: Entry, nowMs: number): void {
    this.waiting.push(entry);
    entry.isFresh = entry.attempts === 0 && entry.dueMs <= nowMs;
    if (entry.isFresh) this.#byNewest?.push(entry.byNewest);
  }

  unwait(entry: Entry): void {
    this.waiting.remove(entry);
    if (entry.isFresh) this.#byNewest?.remove(entry.byNewest);
  }

  clearWaiting(): void {
    this.waiting.clear();
    this.#byNewest?.clear();
  }

  add(entry: Entry): void {
    this.all.add(entry);
    this.#byOrder?.push(entry.byOrder);
  }

  remove(entry: Entry): void {
    this.all.delete(entry);
    this.#byOrder?.remove(entry.byOrder);
  }
}

interface RememberedId {
  /** Of the body, by `bodySum`. */
  readonly sum: number;
  readonly completedMs: number;
}

/** The deliveries that one or more memory stores share, and which of them can be claimed. Only `open` visits all. */
export class MemoryState {
  readonly owners: Set<Owner> = new Set<Owner>();
  /** All deliveries, by a name made of key and id. */
  readonly known: Map<string, Entry> = new Map<string, Entry>();
  /** Completed ids, by the same name, in the order of completion. */
  readonly remembered: Map<string, RememberedId> = new Map<string, RememberedId>();
  readonly unfinished: Pile = new Pile();
  readonly deadLetters: Pile = new Pile();
  readonly kept: Pile = new Pile();
  readonly #pausedKeys = new Set<string>();
  #isPaused = false;
  #drained = 0;
  #isOrdered = false;
  #count = 0;
  readonly #lines = new Map<string, Line>();
  /** Before the first and after the last of the keys that have something due, which take turns. */
  readonly #due = new Line('', 0);
  /** Keys of which the first delivery is due later, or was due later when it was last looked at. */
  readonly #later = new MinHeap<Line>((a, b) => isDueBefore(a.waiting.top as Entry, b.waiting.top as Entry));
  /** Unclaimed deliveries of which a claim was stranded: those that another owner left, so there are few. */
  readonly #stranded = new Set<Entry>();
  readonly #ages = new MinHeap<Slot>((a, b) => a.entry.delivery.receivedAtMs < b.entry.delivery.receivedAtMs);
  /** Upper bound of all due times. */
  #latestMs = -Infinity;

  /** A higher number with each call. */
  next(): number {
    this.#count += 1;
    return this.#count;
  }

  depthByKey(): Map<string, number> {
    return new Map(Array.from(this.#lines.values(), ({ key, all }) => [key, all.size]));
  }

  stats(): StoreStats {
    let inFlight = 0;
    for (const { claims } of this.owners) inFlight += claims.size;
    return {
      depth: this.unfinished.size,
      inFlight,
      bytes: this.unfinished.bytes,
      drained: this.#drained,
      deadLetters: this.deadLetters.size,
      deadLetterBytes: this.deadLetters.bytes,
      remembered: this.remembered.size,
      retained: this.kept.size,
      retainedBytes: this.kept.bytes,
      oldestReceivedAtMs: this.#ages.top?.entry.delivery.receivedAtMs,
      isPaused: this.#isPaused,
      pausedKeys: [...this.#pausedKeys],
    };
  }

  open(nowMs: number, isOrdered: boolean = this.#isOrdered): void {
    const isConverted = isOrdered !== this.#isOrdered;
    this.#isOrdered = isOrdered;
    for (const line of this.#lines.values()) {
      const entries = [...line.all].sort((a, b) => a.order - b.order);
      if (isConverted) {
        // A delivery that is being handled stays the head.
        const first = entries.find(({ owner }) => owner !== undefined) ?? entries[0];
        line.head = isOrdered ? first : undefined;
      }
      line.clearWaiting();
      for (const entry of entries) {
        this.#stranded.delete(entry);
        if (entry.owner === undefined) this.#waitAgain(line, entry, nowMs);
      }
      this.#place(line, nowMs);
    }
  }

  /** Adds an unfinished delivery that is due: a new one, or one that is put back. */
  add(entry: Entry, nowMs: number): void {
    const { key } = entry.delivery;
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = new Line(key, this.next());
      this.#lines.set(key, line);
    }
    entry.attempts = 0;
    entry.isDelayed = false;
    entry.strandings = 0;
    entry.dueMs = nowMs;
    this.unfinished.add(entry);
    this.#ages.push(entry.byAge);
    line.add(entry);
    if (this.#isOrdered) line.head ??= entry;
    this.#wait(line, entry, nowMs);
  }

  claim(owner: Owner, count: number, options: ClaimOptions): ClaimedDelivery[] {
    if (this.#isPaused) return [];
    const { nowMs, except } = options;
    this.#strandExpired(owner, nowMs);
    const claimed = this.#strandedFirst(count, options).map((entry) =>
      this.#begin(this.#lineOf(entry), entry, owner, options),
    );
    for (let line = this.#later.top; line !== undefined; line = this.#later.top) {
      if ((line.waiting.top as Entry).dueMs > nowMs) break;
      this.#place(line, nowMs);
    }
    let skipped = this.#due;
    while (claimed.length < count && skipped.next !== this.#due) {
      const line = skipped.next;
      if (except.has(line.key)) {
        skipped = line;
        continue;
      }
      // If it has more, its next turn is after those of all others.
      this.#leave(line);
      claimed.push(this.#begin(line, line.waiting.top as Entry, owner, options));
    }
    return claimed;
  }

  claimKeys(owner: Owner, wants: readonly KeyWant[], options: KeyClaimOptions): KeyClaim[] {
    if (!this.#isPaused) this.#strandExpired(owner, options.nowMs);
    const leases = this.#leasesOfOthers(owner);
    const { maxStranded = Infinity, maxStrandings = Infinity, isNewestFirst } = options;
    let suspectRoom = maxStranded;
    const mayClaim = ({ strandings }: Entry): boolean =>
      strandings === 0 || (suspectRoom > 0 && strandings <= maxStrandings);
    return wants.map(({ key, count, isHeadOnly, maxHeld = Infinity }) => {
      const line = this.#lines.get(key);
      const claimed: ClaimedDelivery[] = [];
      if (line === undefined || this.#isStopped(key)) return { key, claimed, nextDueMs: undefined };
      while (claimed.length < count && line.claimed < maxHeld) {
        const next = isNewestFirst === true ? line.newest() : this.#nextOf(line, isHeadOnly, mayClaim);
        if (next === undefined || next.dueMs > options.nowMs) break;
        if (next.strandings > 0) suspectRoom -= 1;
        claimed.push(this.#begin(line, next, owner, options));
      }
      return { key, claimed, nextDueMs: this.#nextDueOf(line, isHeadOnly, leases) };
    });
  }

  dueKeys(owner: Owner, { after, limit, dueByMs }: Parameters<InboxStore['dueKeys']>[0]): DueKeys {
    const leases = this.#leasesOfOthers(owner);
    const keys: DueKey[] = [];
    let last = Number(after ?? 0);
    for (const line of this.#lines.values()) {
      if (line.number <= last) continue;
      if (keys.length >= limit) return { keys, next: String(last) };
      last = line.number;
      if (this.#isStopped(line.key)) continue;
      const nextDueMs = this.#nextDueOf(line, false, leases);
      if (nextDueMs !== undefined && nextDueMs <= dueByMs) keys.push({ key: line.key, nextDueMs });
    }
    return { keys, next: undefined };
  }

  nextDueMs(owner: Owner, except: ReadonlySet<string>): number | undefined {
    if (this.#isPaused) return undefined;
    let due = this.#due.next;
    while (due !== this.#due && except.has(due.key)) due = due.next;
    let next = Math.min(due.waiting.top?.dueMs ?? Infinity, this.#laterDueMs(except));
    for (const entry of this.#stranded)
      if (!this.#isSkipped(entry, except)) next = Math.min(next, entry.dueMs);
    for (const leaseEndsMs of this.#leasesOfOthers(owner).values()) next = Math.min(next, leaseEndsMs);
    return next === Infinity ? undefined : next;
  }

  /** Ends a claim without finishing the delivery, which is due again at `dueMs`. */
  giveBack(entry: Entry, dueMs: number, nowMs: number): void {
    const line = this.#endClaim(entry);
    entry.dueMs = dueMs;
    this.#wait(line, entry, nowMs);
  }

  /** Ends a claim of a delivery that is finished. */
  finish(entry: Entry, nowMs: number): void {
    const line = this.#endClaim(entry);
    this.#drained += 1;
    this.unfinished.delete(entry);
    this.#ages.remove(entry.byAge);
    line.remove(entry);
    if (line.all.size === 0) this.#lines.delete(line.key);
    if (line.head !== entry) return;
    const first = line.oldest();
    line.head = first;
    if (first !== undefined && first.owner === undefined) this.#waitAgain(line, first, nowMs);
  }

  /** Pauses or resumes a key, or everything. Returns whether this is a change. */
  setPaused(key: string | null, isPaused: boolean): boolean {
    const wasPaused = key === null ? this.#isPaused : this.#pausedKeys.has(key);
    if (key === null) this.#isPaused = isPaused;
    else if (wasPaused !== isPaused) {
      if (isPaused) this.#pausedKeys.add(key);
      else this.#pausedKeys.delete(key);
      const line = this.#lines.get(key);
      // The next claim moves the key among those that have something due.
      if (line !== undefined) this.#place(line, -Infinity);
    }
    return wasPaused !== isPaused;
  }

  hasten({ key, afterMs, nowMs, limit }: Parameters<InboxStore['hasten']>[0]): number {
    if (this.#latestMs <= afterMs) return 0;
    const entries = key === undefined ? this.unfinished : (this.#lines.get(key)?.all ?? []);
    let hastened = 0;
    let latestMs = -Infinity;
    for (const entry of entries) {
      const line = this.#lineOf(entry);
      const isWaiting = entry.owner === undefined && (!this.#isOrdered || line.head === entry);
      if (isWaiting && entry.dueMs > afterMs && hastened < limit) {
        this.#unwait(line, entry);
        entry.dueMs = nowMs;
        this.#wait(line, entry, nowMs);
        hastened += 1;
      }
      latestMs = Math.max(latestMs, entry.dueMs);
    }
    if (key === undefined) this.#latestMs = latestMs;
    return hastened;
  }

  #begin(line: Line, entry: Entry, owner: Owner, { leaseMs, nowMs }: Lease): ClaimedDelivery {
    this.#unwait(line, entry);
    this.#place(line, nowMs);
    line.claimed += 1;
    owner.claims.add(entry);
    entry.owner = owner;
    entry.leaseEndsMs = nowMs + leaseMs;
    entry.attempts += 1;
    const { delivery, attempts, strandings } = entry;
    // A copy: bytes that a handler overwrites must not reach the next attempt.
    const rawBody = new Uint8Array(delivery.rawBody);
    return { ...delivery, rawBody, attempt: attempts, strandings };
  }

  #endClaim(entry: Entry): Line {
    const line = this.#lineOf(entry);
    line.claimed -= 1;
    entry.owner?.claims.delete(entry);
    entry.owner = undefined;
    return line;
  }

  /** {@link #wait}, for a delivery that was stored earlier. */
  #waitAgain(line: Line, entry: Entry, nowMs: number): void {
    // One that was never tried is due, even if the clock was ahead when it was stored.
    if (entry.attempts === 0 && !entry.isDelayed) entry.dueMs = Math.min(entry.dueMs, nowMs);
    this.#wait(line, entry, nowMs);
  }

  /** Makes an unclaimed delivery claimable, unless it is behind the head of its key. */
  #wait(line: Line, entry: Entry, nowMs: number): void {
    if (this.#isOrdered && line.head !== entry) return;
    this.#latestMs = Math.max(this.#latestMs, entry.dueMs);
    if (entry.strandings > 0) this.#stranded.add(entry);
    else line.wait(entry, nowMs);
    this.#place(line, nowMs);
  }

  #unwait(line: Line, entry: Entry): void {
    if (!this.#stranded.delete(entry)) line.unwait(entry);
  }

  /** Restores the place of a key among the others, after each change of the waiting ones. */
  #place(line: Line, nowMs: number): void {
    const first = this.#pausedKeys.has(line.key) ? undefined : line.waiting.top;
    let place: Line['place'];
    if (first !== undefined) place = first.dueMs <= nowMs ? 'due' : 'later';
    // A key keeps its turn.
    if (place === 'due' && line.place === 'due') return;
    this.#leave(line);
    line.place = place;
    if (place === 'later') this.#later.push(line);
    if (place !== 'due') return;
    line.previous = this.#due.previous;
    line.next = this.#due;
    line.previous.next = line;
    this.#due.previous = line;
  }

  #leave(line: Line): void {
    if (line.place === 'later') this.#later.remove(line);
    line.place = undefined;
    line.previous.next = line.next;
    line.next.previous = line.previous;
    line.previous = line;
    line.next = line;
  }

  #strandExpired(owner: Owner, nowMs: number): void {
    for (const other of this.owners) {
      if (other === owner) continue;
      for (const entry of other.claims) {
        if (entry.leaseEndsMs > nowMs) continue;
        entry.strandings += 1;
        this.giveBack(entry, entry.dueMs, nowMs);
      }
    }
  }

  #strandedFirst(count: number, { nowMs, maxStranded, except }: ClaimOptions): Entry[] {
    const due = [...this.#stranded].filter(
      (entry) => entry.dueMs <= nowMs && !this.#isSkipped(entry, except),
    );
    due.sort((a, b) => (isDueBefore(a, b) ? -1 : 1));
    const once = due.filter(({ strandings }) => strandings === 1);
    const candidates = once.length > 0 ? once : due.slice(0, 1);
    return candidates.slice(0, Math.min(count, maxStranded));
  }

  /** The delivery of a key that is claimed next, now or later. */
  #nextOf(line: Line, isHeadOnly: boolean, mayClaim = (_: Entry) => true): Entry | undefined {
    if (this.#isOrdered || isHeadOnly) {
      const head = this.#isOrdered ? line.head : line.oldest();
      return line.claimed > 0 || head === undefined || !mayClaim(head) ? undefined : head;
    }
    let first = line.waiting.top;
    for (const entry of this.#stranded) {
      if (entry.delivery.key !== line.key || !mayClaim(entry)) continue;
      if (first === undefined || isDueBefore(entry, first)) first = entry;
    }
    return first;
  }

  #nextDueOf(line: Line, isHeadOnly: boolean, leases: ReadonlyMap<string, number>): number | undefined {
    const dueMs = this.#nextOf(line, isHeadOnly)?.dueMs;
    const leaseEndsMs = leases.get(line.key);
    if (dueMs === undefined || leaseEndsMs === undefined) return dueMs ?? leaseEndsMs;
    return Math.min(dueMs, leaseEndsMs);
  }

  /** When the first claim of another owner runs out, by key. */
  #leasesOfOthers(owner: Owner): Map<string, number> {
    const leases = new Map<string, number>();
    for (const other of this.owners) {
      if (other === owner) continue;
      for (const { delivery, leaseEndsMs } of other.claims)
        leases.set(delivery.key, Math.min(leaseEndsMs, leases.get(delivery.key) ?? Infinity));
    }
    return leases;
  }

  #laterDueMs(except: ReadonlySet<string>): number {
    const skipped: Line[] = [];
    let line = this.#later.top;
    for (; line !== undefined && except.has(line.key); line = this.#later.top) {
      this.#later.pop();
      skipped.push(line);
    }
    for (const one of skipped) this.#later.push(one);
    return line?.waiting.top?.dueMs ?? Infinity;
  }

  #isSkipped({ delivery: { key } }: Entry, except: ReadonlySet<string>): boolean {
    return except.has(key) || this.#pausedKeys.has(key);
  }

  #isStopped(key: string): boolean {
    return this.#isPaused || this.#pausedKeys.has(key);
  }

  #lineOf({ delivery }: Entry): Line {
    return this.#lines.get(delivery.key) as Line;
  }
}
