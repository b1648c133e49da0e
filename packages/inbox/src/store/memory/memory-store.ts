import { areOtherBodies, bodySum } from '../../delivery/body-sum.ts';
import { storedBytes } from '../../delivery/stored-bytes.ts';
import type { DeliveryRef, StoredDelivery } from '../../delivery/stored-delivery.ts';
import type { ClaimRef, InboxStore, Settlement } from '../inbox-store.ts';
import type { Put, PutResult, StoreLimits } from '../receiving-store.ts';
import type {
  Counted,
  MovedDelivery,
  PageQuery,
  PendingState,
  Portion,
  StoredDeadLetter,
  StoredCompleted,
  StoredPage,
  StoredPending,
  WithoutBody,
} from '../store-admin.ts';
import { Entry, type Owner, type Pile } from './entry.ts';
import { MemoryState } from './memory-state.ts';

/**
 * Keeps deliveries in memory and loses them when the process ends. For tests, and for inboxes whose deliveries may be
 * lost: a sender that was answered with 202 does not send the delivery again.
 */
export function memoryStore(): InboxStore {
  return new MemoryStore(new MemoryState(), true);
}

/** Whether no other inbox can use the deliveries of this store, so that it is useless without workers. */
export function isUnshared(store: unknown): boolean {
  return store instanceof MemoryStore && store.isUnshared;
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** One owner of the deliveries in a shared state. */
export class MemoryStore implements InboxStore, Owner {
  readonly isUnshared: boolean;
  readonly claims: Set<Entry> = new Set<Entry>();
  readonly #memory: MemoryState;

  constructor(memory: MemoryState, isUnshared = false) {
    this.#memory = memory;
    this.isUnshared = isUnshared;
    memory.owners.add(this);
  }

  readonly open: InboxStore['open'] = (nowMs, options) => {
    this.#memory.open(nowMs, options?.isOrdered);
    return { ...this.#memory.stats(), depthByKey: this.#memory.depthByKey() };
  };

  readonly put: InboxStore['put'] = (batch, { limits, nowMs }) =>
    batch.map((one) => this.#put(one, limits, nowMs));

  readonly claim: InboxStore['claim'] = (count, options) => this.#memory.claim(this, count, options);

  readonly claimKeys: InboxStore['claimKeys'] = (wants, options) =>
    this.#memory.claimKeys(this, wants, options);

  readonly dueKeys: InboxStore['dueKeys'] = (options) => this.#memory.dueKeys(this, options);

  readonly renew: InboxStore['renew'] = (claims, { leaseMs, nowMs }) =>
    claims.map((claim) => {
      const entry = this.#held(claim);
      if (entry !== undefined) entry.leaseEndsMs = nowMs + leaseMs;
      return entry !== undefined;
    });

  readonly settle: InboxStore['settle'] = (settlements, nowMs) =>
    settlements.map((settlement) => {
      const entry = this.#held(settlement);
      if (entry !== undefined) this.#settle(entry, settlement, nowMs);
      return entry !== undefined;
    });

  readonly nextDueMs: InboxStore['nextDueMs'] = (except = NO_KEYS) => this.#memory.nextDueMs(this, except);

  readonly hasten: InboxStore['hasten'] = (options) => this.#memory.hasten(options);

  readonly pause: InboxStore['pause'] = (key) => this.#memory.setPaused(key, true);

  readonly resume: InboxStore['resume'] = (key) => this.#memory.setPaused(key, false);

  readonly depthByKey: InboxStore['depthByKey'] = () => this.#memory.depthByKey();

  readonly stats: InboxStore['stats'] = () => this.#memory.stats();

  readonly close: InboxStore['close'] = (nowMs) => {
    for (const entry of this.claims) this.#release(entry, undefined, nowMs);
    this.#memory.owners.delete(this);
  };

  readonly listDeadLetters: InboxStore['listDeadLetters'] = ({ key, limit, offset }) =>
    [...this.#found(this.#memory.deadLetters, null, key)]
      .slice(offset, offset + limit)
      .map((entry) => listed(deadLetterOf(entry)));

  readonly scanDeadLetters: InboxStore['scanDeadLetters'] = ({ after, limit, key }) => {
    const entries = inOrder(this.#found(this.#memory.deadLetters, null, key), { after, limit });
    return page(entries, limit, ({ order }) => order, deadLetterOf);
  };

  readonly getDeadLetter: InboxStore['getDeadLetter'] = (id, { key }) => {
    const [oldest] = this.#found(this.#memory.deadLetters, id, key);
    return oldest && copied(deadLetterOf(oldest));
  };

  readonly countDeadLetters: InboxStore['countDeadLetters'] = (id, { key }) =>
    counted(this.#found(this.#memory.deadLetters, id, key));

  readonly redrive: InboxStore['redrive'] = (id, options) =>
    this.#putBack(this.#memory.deadLetters, id, options);

  readonly purge: InboxStore['purge'] = (id, { key, beforeMs = Infinity, upTo = Infinity, ...portion }) => {
    const { deadLetters, known } = this.#memory;
    const isMeant = ({ end, endedMs }: Entry): boolean => end <= upTo && endedMs < beforeMs;
    const purged = taken(deadLetters, this.#found(deadLetters, id, key), portion, isMeant);
    for (const { delivery } of purged) known.delete(nameOf(delivery));
    return purged.map(moved);
  };

  readonly noteRoom: InboxStore['noteRoom'] = () => {
    // No other process can redrive into this memory.
  };

  readonly listPending: InboxStore['listPending'] = ({ after, limit, key, state, nowMs }) => {
    const entries = [...this.#found(this.#memory.unfinished, null, key)].filter(
      (entry) => state === undefined || stateOf(entry, nowMs) === state,
    );
    return page(
      inOrder(entries, { after, limit }),
      limit,
      ({ order }) => order,
      (entry) => pendingOf(entry, nowMs),
    );
  };

  readonly getPending: InboxStore['getPending'] = (ref, nowMs) => {
    const entry = this.#memory.known.get(nameOf(ref));
    return entry && this.#memory.unfinished.has(entry) ? copied(pendingOf(entry, nowMs)) : undefined;
  };

  readonly listCompleted: InboxStore['listCompleted'] = ({ after, limit, key }) => {
    const entries = [...this.#found(this.#memory.kept, null, key)].filter(({ end }) => end > after);
    return page(entries, limit, ({ end }) => end, completedOf);
  };

  readonly getCompleted: InboxStore['getCompleted'] = (id, { key }) => {
    const last = [...this.#found(this.#memory.kept, id, key)].at(-1);
    return last && copied(completedOf(last));
  };

  readonly countCompleted: InboxStore['countCompleted'] = (id, { key }) =>
    counted(this.#found(this.#memory.kept, id, key));

  readonly replay: InboxStore['replay'] = (id, options) => this.#putBack(this.#memory.kept, id, options);

  readonly dropCompleted: InboxStore['dropCompleted'] = ({ beforeMs, keepBytes, ...portion }) => {
    const { kept, known } = this.#memory;
    const isSpare = ({ endedMs }: Entry): boolean => endedMs < beforeMs || kept.bytes > keepBytes;
    const dropped = taken(kept, kept, portion, isSpare);
    for (const { delivery } of dropped) known.delete(nameOf(delivery));
    return dropped.map(moved);
  };

  readonly forget: InboxStore['forget'] = ({ beforeMs, keep, limit }) => {
    const { remembered } = this.#memory;
    let forgotten = 0;
    for (const [name, { completedMs }] of remembered) {
      const isSpare = completedMs < beforeMs || remembered.size > keep;
      if (forgotten >= limit || !isSpare) break;
      remembered.delete(name);
      forgotten += 1;
    }
    return forgotten;
  };

  readonly forgetId: InboxStore['forgetId'] = (ref) => {
    const { known, kept, remembered } = this.#memory;
    const name = nameOf(ref);
    const entry = known.get(name);
    const isKept = entry !== undefined && kept.delete(entry);
    if (isKept) known.delete(name);
    return remembered.delete(name) || isKept;
  };

  #put({ delivery, isOverflow }: Put, limits: StoreLimits, nowMs: number): PutResult {
    const { known, remembered, unfinished, deadLetters } = this.#memory;
    const name = nameOf(delivery);
    const before = known.get(name);
    const sum = before === undefined ? remembered.get(name)?.sum : bodySum(before.delivery);
    if (sum !== undefined) return areOtherBodies(sum, bodySum(delivery)) ? 'conflict' : 'duplicate';
    const bytes = storedBytes(delivery);
    const isFull = isOverflow
      ? deadLetters.size >= limits.maxDeadLetters || deadLetters.bytes + bytes > limits.maxDeadLetterBytes
      : unfinished.size >= limits.capacity || unfinished.bytes + bytes > limits.maxBytes;
    if (isFull) return 'full';
    const entry = new Entry(delivery, bytes, this.#memory.next());
    known.set(name, entry);
    if (isOverflow) this.#end(entry, deadLetters, nowMs, 'overflow');
    else this.#memory.add(entry, nowMs);
    return 'stored';
  }

  /** The delivery of a claim that this owner still holds. */
  #held({ attempt, ...ref }: ClaimRef): Entry | undefined {
    const entry = this.#memory.known.get(nameOf(ref));
    return entry?.owner === this && entry.attempts === attempt ? entry : undefined;
  }

  #settle(entry: Entry, settlement: Settlement, nowMs: number): void {
    const { deadLetters, kept, known, remembered } = this.#memory;
    switch (settlement.as) {
      case 'failed':
        entry.isDelayed = true;
        if (settlement.isRepeated === true) entry.attempts -= 1;
        this.#memory.giveBack(entry, settlement.retryAtMs, nowMs);
        break;
      case 'released':
        this.#release(entry, settlement.retryAtMs, nowMs);
        break;
      case 'dead':
        this.#memory.finish(entry, nowMs);
        this.#end(entry, deadLetters, nowMs, 'dead', settlement.error);
        break;
      case 'completed': {
        this.#memory.finish(entry, nowMs);
        const { delivery } = entry;
        const name = nameOf(delivery);
        if (settlement.keep) this.#end(entry, kept, nowMs);
        else known.delete(name);
        if (!delivery.isIdGenerated) remembered.set(name, { sum: bodySum(delivery), completedMs: nowMs });
      }
    }
  }

  #putBack(
    pile: Pile,
    id: string | null,
    { key, nowMs, upTo = Infinity, ...portion }: Parameters<InboxStore['redrive']>[1],
  ): MovedDelivery[] {
    const entries = taken(pile, this.#found(pile, id, key), portion, ({ end }) => end <= upTo);
    for (const entry of entries) {
      this.#memory.remembered.delete(nameOf(entry.delivery));
      this.#memory.add(entry, nowMs);
    }
    return entries.map(moved);
  }

  #found(pile: Pile, id: string | null, key: string | undefined): Iterable<Entry> {
    if (id === null || key === undefined) return found(pile, id, key);
    // Without a search, because moving many deliveries one by one calls this for each.
    const entry = this.#memory.known.get(nameOf({ key, id }));
    return entry !== undefined && pile.has(entry) ? [entry] : [];
  }

  #release(entry: Entry, retryAtMs: number | undefined, nowMs: number): void {
    entry.attempts -= 1;
    entry.isDelayed = retryAtMs !== undefined;
    this.#memory.giveBack(entry, retryAtMs ?? Math.min(entry.dueMs, nowMs), nowMs);
  }

  #end(entry: Entry, pile: Pile, nowMs: number, reason: Entry['reason'] = 'dead', error = ''): void {
    entry.endedMs = nowMs;
    entry.end = this.#memory.next();
    entry.reason = reason;
    entry.error = error;
    pile.add(entry);
  }
}

/** Different for any two deliveries. */
function nameOf({ key, id }: DeliveryRef): string {
  return `${String(key.length)}:${key}${id}`;
}

/** Deliveries of one id, or of any with null, and of one key, or of any with undefined. */
function* found(pile: Pile, id: string | null, key: string | undefined): Generator<Entry> {
  for (const entry of pile) {
    const { delivery } = entry;
    if ((id === null || delivery.id === id) && (key === undefined || delivery.key === key)) yield entry;
  }
}

/**
 * The first ones behind a position in the order of first storing, one more than `limit`. Does not sort all of them, because
 * a long list is read one page after the other.
 */
function inOrder(entries: Iterable<Entry>, { after, limit }: Pick<PageQuery, 'after' | 'limit'>): Entry[] {
  const byOrder = (a: Entry, b: Entry): number => a.order - b.order;
  let first: Entry[] = [];
  let last = Infinity;
  for (const entry of entries) {
    if (entry.order <= after || entry.order > last) continue;
    first.push(entry);
    if (first.length < 4 * (limit + 1)) continue;
    first = first.sort(byOrder).slice(0, limit + 1);
    last = first.at(-1)?.order ?? last;
  }
  return first.sort(byOrder).slice(0, limit + 1);
}

function counted(entries: Iterable<Entry>): Counted {
  const all = [...entries];
  return { count: all.length, upTo: all.at(-1)?.end ?? 0 };
}

/** Removes the first of these entries from a pile, until one is not meant. */
function taken(
  pile: Pile,
  entries: Iterable<Entry>,
  { limit, maxBytes }: Portion,
  isMeant: (entry: Entry) => boolean,
): Entry[] {
  const some: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    bytes += entry.bytes;
    if (some.length >= limit || (bytes > maxBytes && some.length > 0) || !isMeant(entry)) break;
    pile.delete(entry);
    some.push(entry);
  }
  return some;
}

function page<T extends StoredDelivery>(
  entries: readonly Entry[],
  limit: number,
  positionOf: (entry: Entry) => number,
  show: (entry: Entry) => T,
): StoredPage<Omit<T, 'rawBody'> & WithoutBody> {
  const some = entries.slice(0, limit);
  const last = some.at(-1);
  return {
    deliveries: some.map((entry) => listed(show(entry))),
    next: last !== undefined && entries.length > limit ? positionOf(last) : undefined,
  };
}

function deadLetterOf({ delivery, attempts, reason, error, endedMs }: Entry): StoredDeadLetter {
  return { ...delivery, attempts, reason, error, deadAtMs: endedMs };
}

function completedOf({ delivery, attempts, endedMs }: Entry): StoredCompleted {
  return { ...delivery, attempts, completedAtMs: endedMs };
}

function pendingOf(entry: Entry, nowMs: number): StoredPending {
  const { delivery, attempts, dueMs } = entry;
  return { ...delivery, state: stateOf(entry, nowMs), attempts, dueMs };
}

function stateOf({ owner, dueMs }: Entry, nowMs: number): PendingState {
  if (owner !== undefined) return 'active';
  return dueMs > nowMs ? 'delayed' : 'ready';
}

function listed<T extends StoredDelivery>({ rawBody, ...rest }: T): Omit<T, 'rawBody'> & WithoutBody {
  return { ...rest, bodyBytes: rawBody.byteLength };
}

/** With its own bytes: those that a caller overwrites must not reach the next one. */
function copied<T extends StoredDelivery>(one: T): T {
  return { ...one, rawBody: new Uint8Array(one.rawBody) };
}

function moved({ delivery: { key, id }, bytes }: Entry): MovedDelivery {
  return { key, id, bytes };
}
