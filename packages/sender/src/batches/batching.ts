import { createHash } from 'node:crypto';
import type { BatchSettings } from '../options/endpoint-settings.ts';
import { BYTES_OF_BATCH, bytesInBatch, type StoredEvent } from '../requests/request-content.ts';

/** Refused batches that are remembered: the events of older ones are put into batches anew. */
const MAX_GROUPS = 1000;
/** A group of which some events are missing so often was claimed in part by another process. */
const MAX_MISSES = 3;

/** A claimed event. */
export interface Batchable {
  readonly event: StoredEvent;
}

/** The events of one request. */
export interface Batch<C extends Batchable> {
  /** Derived from the ids of its events: the same events are always sent under the same id. */
  readonly id: string;
  readonly claims: readonly [C, ...C[]];
  readonly isBatch: boolean;
  /** Whether it was refused before. */
  readonly isRepeated: boolean;
}

/** The result of {@link Batching.compose}. */
export interface Composed<C extends Batchable> {
  readonly batches: readonly Batch<C>[];
  /** Events of a group of which others were not claimed: give them back, due immediately. */
  readonly rest: readonly C[];
}

/** Events that were refused together. */
interface Group {
  readonly ids: readonly string[];
  misses: number;
}

/**
 * Puts the claimed events of one endpoint into batches. A batch that was refused is remembered, so that its events are sent
 * together again: the receiver recognizes the repeated request by its id.
 */
export class Batching {
  readonly #groups = new Map<string, Group>();
  readonly #refused = new Set<Group>();

  /**
   * @param claims - in order.
   * @param isAll - whether no event is left that can be claimed now, so that the rest of a group was claimed elsewhere.
   */
  compose<C extends Batchable>(claims: readonly C[], batch: BatchSettings, isAll: boolean): Composed<C> {
    const groups = new Map<Group, C[]>();
    const others: C[] = [];
    for (const claim of claims) {
      const group = this.#groups.get(claim.event.id);
      if (group === undefined) others.push(claim);
      else if (groups.has(group)) groups.get(group)?.push(claim);
      else groups.set(group, [claim]);
    }
    const batches: Batch<C>[] = [];
    const rest: C[] = [];
    const freed: C[] = [];
    for (const [group, members] of groups) {
      group.misses += 1;
      const isWhole = members.length === group.ids.length;
      if (!isWhole && !isAll && group.misses < MAX_MISSES) {
        rest.push(...members);
        continue;
      }
      this.#forget(group);
      if (isWhole) batches.push(batchOf(inOrder(members, group.ids), true));
      else freed.push(...members);
    }
    return { batches: [...batches, ...cut([...freed, ...others], batch)], rest };
  }

  /** These events were refused together, and are claimed again. */
  keepTogether(claims: readonly Batchable[]): void {
    if (claims.length >= 2) this.#remember(claims);
  }

  /** The batch is too large, or one of its events is at fault: its halves are sent separately. */
  split(claims: readonly Batchable[]): void {
    const middle = Math.ceil(claims.length / 2);
    // A single event as well: in a batch with others it would hide which one is at fault.
    this.#remember(claims.slice(0, middle));
    this.#remember(claims.slice(middle));
  }

  /** The request was not started: its events are claimed again. */
  giveBack({ claims, isRepeated }: Pick<Batch<Batchable>, 'claims' | 'isRepeated'>): void {
    if (isRepeated) this.#remember(claims);
  }

  #remember(claims: readonly Batchable[]): void {
    const group: Group = { ids: claims.map(({ event }) => event.id), misses: 0 };
    for (const id of group.ids) {
      const earlier = this.#groups.get(id);
      if (earlier !== undefined) this.#forget(earlier);
      this.#groups.set(id, group);
    }
    this.#refused.add(group);
    if (this.#refused.size <= MAX_GROUPS) return;
    for (const oldest of this.#refused) {
      this.#forget(oldest);
      break;
    }
  }

  #forget(group: Group): void {
    this.#refused.delete(group);
    for (const id of group.ids) if (this.#groups.get(id) === group) this.#groups.delete(id);
  }
}

/** Cuts events into batches by number, bytes and headers: a request has only one set of headers. */
function* cut<C extends Batchable>(
  claims: readonly C[],
  { maxEvents, maxBytes }: BatchSettings,
): Generator<Batch<C>> {
  let members: C[] = [];
  let bytes = BYTES_OF_BATCH;
  for (const claim of claims) {
    const more = bytesInBatch(claim.event);
    const isFull = members.length >= maxEvents || bytes + more > maxBytes;
    const [first] = members;
    if (first !== undefined && (isFull || !haveSameHeaders(first.event, claim.event))) {
      yield batchOf(members, false);
      members = [];
      bytes = BYTES_OF_BATCH;
    }
    members.push(claim);
    bytes += more;
  }
  if (members.length > 0) yield batchOf(members, false);
}

function batchOf<C extends Batchable>(members: readonly C[], isRepeated: boolean): Batch<C> {
  return { id: batchId(members), claims: members as readonly [C, ...C[]], isBatch: true, isRepeated };
}

/** Ids contain no space, so that no two lists of ids give the same text. */
function batchId(members: readonly Batchable[]): string {
  const ids = members.map(({ event }) => event.id).join(' ');
  return `batch_${createHash('sha256').update(ids).digest('hex').slice(0, 32)}`;
}

/** As they were sent before: the order is part of the id. */
function inOrder<C extends Batchable>(members: readonly C[], ids: readonly string[]): readonly C[] {
  const byId = new Map(members.map((claim) => [claim.event.id, claim]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function haveSameHeaders({ headers: one }: StoredEvent, { headers: other }: StoredEvent): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  );
}

/**
 * The events of an endpoint that this process has stored and not claimed yet, so that it knows when a batch is complete
 * without asking the store. Retries, and events from before a restart or of other processes, are not counted: they don't
 * wait for others.
 */
export class Gathering {
  #count = 0;
  #bytes = 0;
  /** When the oldest was stored, at the earliest. */
  #sinceMs = Infinity;

  /** An event was stored. `bytes`: in the body of a batch. */
  stored(bytes: number, nowMs: number): void {
    this.#count += 1;
    this.#bytes += bytes;
    this.#sinceMs = Math.min(this.#sinceMs, nowMs);
  }

  /**
   * Events were claimed.
   *
   * @param isAll - whether no event is left that can be claimed now.
   */
  claimed(count: number, bytes: number, isAll: boolean, nowMs: number): void {
    this.#count = isAll ? 0 : Math.max(0, this.#count - count);
    this.#bytes = this.#count === 0 ? 0 : Math.max(0, this.#bytes - bytes);
    // The others are at most as old.
    if (this.#count === 0) this.#sinceMs = Infinity;
    else this.#sinceMs = Math.min(nowMs, this.#sinceMs);
  }

  /** When a batch is complete or old enough, on the monotonic clock; 0 for now, also if nothing gathers. */
  readyAtMs({ maxEvents, maxDelayMs, maxBytes }: BatchSettings): number {
    if (this.#count === 0 || this.#count >= maxEvents || this.#bytes >= maxBytes) return 0;
    return this.#sinceMs + maxDelayMs;
  }

  /** For how many requests there are events: complete batches, or one more when the rest is old enough. */
  requests(batch: BatchSettings, nowMs: number): number {
    const { maxEvents, maxDelayMs, maxBytes } = batch;
    const full = Math.max(this.#count / maxEvents, this.#bytes / maxBytes);
    const isOld = nowMs - this.#sinceMs >= maxDelayMs;
    return Math.max(1, isOld ? Math.ceil(full) : Math.floor(full));
  }
}
