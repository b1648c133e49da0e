import type { InboxState } from '../capacity/inbox-state.ts';
import type { BatchSettings } from '../options/batch-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { Task } from '../time/scheduler.ts';
import { groupOf, newestOf, type Coalesce } from './coalescing.ts';
import { LEASE_MS } from './lease-renewal.ts';
import type { Outages } from './outages.ts';
import type { RunSettler } from './run-settler.ts';
import type { RunningHandlers } from './running-handlers.ts';
import type { HandlerRun } from './handler-run.ts';

/** The most keys of one call of the store. */
const MAX_WANTS = 1000;
/** How many deliveries of a key are looked at to find those of one group. */
const MAX_DEPTH = 100;
/** If few of them are of the group, fewer are looked at: the others are claimed in vain, and given back. */
const MIN_DEPTH = 8;
/** A key whose depth is forgotten begins with the most again. */
const MAX_KEYS = 1000;
/** A batch grows by this factor with each call at most: later deliveries may be larger. */
const GROWTH = 4;
/** A batch makes at most so many calls at a time: what it claims may be held, or expired, and not count. */
const MAX_CALLS = 8;
/** A batch that waits looks for more deliveries so often, also for those that other processes have stored. */
const LOOKS = 8;
const MIN_LOOK_MS = 10;

interface Parts {
  readonly inbox: InboxState;
  readonly settler: RunSettler;
  readonly outages: Outages;
  readonly handlers: RunningHandlers;
  readonly hasBatches: boolean;
  readonly coalesce: Coalesce | undefined;
  /** Takes on a delivery that was claimed by looking ahead. Returns its run if it may start. */
  readonly take: (claimed: ClaimedDelivery) => HandlerRun | undefined;
  /** The worker of a claimed run is not needed: it shares that of another. */
  readonly free: (run: HandlerRun) => void;
  readonly wake: () => void;
}

/** A batch that waits for more deliveries. */
interface Collecting {
  readonly holder: HandlerRun;
  readonly untilMs: number;
  lookAtMs: number;
}

/**
 * Claims further deliveries of the keys of which some were claimed: for a batch, or to find newer ones of the same group.
 * They share the worker of the first.
 *
 * A batch has one key, because keys take turns, are paused and fail each by itself: with several keys, one could use the
 * turns of the others, and its failure would be theirs.
 */
export class LookAhead {
  readonly #parts: Parts;
  /** Undefined without `processBatch`. */
  readonly #batch: BatchSettings | undefined;
  readonly #collecting = new Map<string, Collecting>();
  readonly #depths = new Map<string, number>();
  readonly #nextLook: Task;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#batch = parts.hasBatches ? parts.inbox.fixtures.batch : undefined;
    this.#nextLook = parts.inbox.scheduler.task(parts.wake);
  }

  /** Keys of which a batch waits for more deliveries: others must not claim them. */
  get keys(): Iterable<string> {
    return this.#collecting.keys();
  }

  /** Starts claimed runs, each with what is claimed beside it. */
  async begin(runs: readonly HandlerRun[]): Promise<void> {
    const { coalesce } = this.#parts;
    const batch = this.#batch;
    if (batch !== undefined) {
      const holders = this.#merge(runs, batch);
      await this.#fill(holders, batch);
      for (const holder of holders) this.#startOrCollect(holder, batch);
    } else if (coalesce !== undefined) await this.#coalesce(runs, coalesce);
  }

  /** Looks for more deliveries of the batches that wait, and starts those whose time is up. */
  async look(): Promise<void> {
    const { inbox } = this.#parts;
    const batch = this.#batch;
    if (batch === undefined || this.#collecting.size === 0) return;
    const nowMs = inbox.now();
    const due = [...this.#collecting].filter(([, { lookAtMs }]) => lookAtMs <= nowMs);
    for (const [key] of due) this.#collecting.delete(key);
    const holders = due.map(([, { holder }]) => holder).filter(({ isWaiting }) => isWaiting);
    await this.#fill(holders, batch);
    for (const [, { holder, untilMs }] of due) this.#startOrCollect(holder, batch, untilMs);
  }

  get #isOpen(): boolean {
    return this.#parts.inbox.phase === 'open';
  }

  /** A delivery that was in flight when a process died, and one that probes an outage, run alone. */
  #isAlone(run: HandlerRun): boolean {
    return run.isSuspect || run.isProbe || this.#parts.outages.failingSinceMs !== undefined;
  }

  /** Puts claimed runs of one key into batches. Returns the holders of the batches. */
  #merge(runs: readonly HandlerRun[], batch: BatchSettings): readonly HandlerRun[] {
    const open = new Map<string, HandlerRun>();
    const holders: HandlerRun[] = [];
    for (const run of runs) {
      const { key } = run.claimed;
      const holder = this.#isAlone(run) ? undefined : open.get(key);
      if (holder !== undefined && roomIn(holder, batch) > 0 && run.bytes <= bytesLeft(holder, batch)) {
        this.#parts.free(run);
        run.join(holder);
        continue;
      }
      holders.push(run);
      if (this.#isAlone(run)) run.isFull = true;
      else open.set(key, run);
    }
    // Only the last batch of a key takes more.
    for (const holder of holders) if (open.get(holder.claimed.key) !== holder) holder.isFull = true;
    return holders;
  }

  /** Claims more for the batches that are not full, until the store has no more. */
  async #fill(holders: readonly HandlerRun[], batch: BatchSettings): Promise<void> {
    let hungry = holders.filter((holder) => roomIn(holder, batch) > 0).slice(0, MAX_WANTS);
    for (let calls = 0; hungry.length > 0 && calls < MAX_CALLS && this.#isOpen; calls += 1) {
      const wants = hungry.map((holder) => ({ holder, count: wantOf(holder, batch) }));
      const claims = await this.#claim(wants.map(({ holder: { claimed }, count }) => [claimed.key, count]));
      hungry = [];
      for (const [at, { holder, count }] of wants.entries()) {
        const claimed = claims[at] ?? [];
        for (const one of claimed) {
          const run = this.#parts.take(one);
          if (run === undefined) continue;
          const fits = run.bytes <= bytesLeft(holder, batch);
          if (!fits) holder.isFull = true;
          if (fits && holder.isWaiting) run.join(holder);
          else this.#giveBack(run);
        }
        if (claimed.length === count && roomIn(holder, batch) > 0 && holder.isWaiting) hungry.push(holder);
      }
    }
  }

  #startOrCollect(holder: HandlerRun, batch: BatchSettings, untilMs?: number): void {
    const { inbox, handlers } = this.#parts;
    const nowMs = inbox.now();
    const endMs = untilMs ?? nowMs + batch.maxWaitMs;
    if (roomIn(holder, batch) <= 0 || nowMs >= endMs || !this.#isOpen) {
      handlers.add(holder);
      return;
    }
    // Paused or given back meanwhile.
    if (!holder.isWaiting) return;
    const lookAtMs = Math.min(endMs, nowMs + Math.max(MIN_LOOK_MS, batch.maxWaitMs / LOOKS));
    this.#collecting.set(holder.claimed.key, { holder, untilMs: endMs, lookAtMs });
    this.#nextLook.set(Math.min(...Array.from(this.#collecting.values(), (one) => one.lookAtMs)));
  }

  async #coalesce(runs: readonly HandlerRun[], coalesce: Coalesce): Promise<void> {
    const { handlers } = this.#parts;
    const groups = new Map<string, HandlerRun[]>();
    const keys = new Set<string>();
    const single: HandlerRun[] = [];
    for (const run of runs) {
      const group = this.#isAlone(run) ? null : await this.#groupOf(run, coalesce);
      if (group === null) {
        single.push(run);
        continue;
      }
      keys.add(run.claimed.key);
      const name = JSON.stringify([run.claimed.key, group]);
      const members = groups.get(name);
      if (members === undefined) groups.set(name, [run]);
      else {
        this.#parts.free(run);
        members.push(run);
      }
    }
    for (const [key, found] of await this.#ahead([...keys].slice(0, MAX_WANTS))) {
      let spare = 0;
      for (const run of found) {
        const group = await this.#groupOf(run, coalesce);
        const members = group === null ? undefined : groups.get(JSON.stringify([key, group]));
        if (members !== undefined) members.push(run);
        else {
          this.#giveBack(run);
          spare += 1;
        }
      }
      this.#note(key, found.length, spare);
    }
    for (const run of single) handlers.add(run);
    for (const members of groups.values()) this.#startNewest(members);
  }

  async #ahead(keys: readonly string[]): Promise<readonly (readonly [string, readonly HandlerRun[]])[]> {
    if (keys.length === 0 || !this.#isOpen) return [];
    const claims = await this.#claim(keys.map((key) => [key, this.#depths.get(key) ?? MAX_DEPTH]));
    return keys.map((key, at) => [key, (claims[at] ?? []).flatMap((one) => this.#parts.take(one) ?? [])]);
  }

  /** The first of the members was claimed for a worker, and the others share it. */
  #startNewest(members: readonly HandlerRun[]): void {
    const [first] = members;
    const waiting = members.filter(({ state }) => state === 'waiting');
    const newest = newestOf(waiting);
    if (first === undefined || newest === undefined) return;
    if (first.state !== 'waiting') {
      // Its worker is free again: it was given back.
      for (const run of waiting) this.#giveBack(run);
      return;
    }
    newest.followers = waiting.filter((run) => run !== newest);
    newest.takeWorkerOf(first);
    this.#parts.handlers.add(newest);
  }

  /** Null also for a delivery that has no group because of an error: running alone, it fails with that error. */
  async #groupOf(run: HandlerRun, coalesce: Coalesce): Promise<string | null> {
    try {
      return groupOf(coalesce, await this.#parts.inbox.encryption.decrypt(run.claimed));
    } catch (error) {
      run.coalesceError = { error };
      return null;
    }
  }

  #note(key: string, found: number, spare: number): void {
    const depth = this.#depths.get(key) ?? MAX_DEPTH;
    this.#depths.delete(key);
    const next = spare > found / 2 ? Math.max(MIN_DEPTH, depth / 2) : depth * 2;
    if (next >= MAX_DEPTH) return;
    this.#depths.set(key, Math.floor(next));
    if (this.#depths.size > MAX_KEYS) this.#depths.delete(this.#depths.keys().next().value as string);
  }

  #giveBack(run: HandlerRun): void {
    this.#parts.settler.giveBackSoon(run);
  }

  /**
   * Claims none that was in flight when a process died: it runs alone. Without an answer there is nothing more: the
   * claimed deliveries run without it.
   */
  async #claim(
    wants: readonly (readonly [key: string, count: number])[],
  ): Promise<readonly (readonly ClaimedDelivery[])[]> {
    const { store, health, wall } = this.#parts.inbox;
    try {
      const claims = await store.claimKeys(
        wants.map(([key, count]) => ({ key, count, isHeadOnly: false })),
        { leaseMs: LEASE_MS, nowMs: wall.trustedMs(), maxStranded: 0 },
      );
      return claims.map(({ claimed }) => claimed);
    } catch (error) {
      health.failed('claimKeys', error);
      return [];
    }
  }
}

/** How many more deliveries the batch may have. */
function roomIn(holder: HandlerRun, batch: BatchSettings): number {
  return holder.isFull || bytesLeft(holder, batch) <= 0 ? 0 : batch.maxDeliveries - holder.members.length;
}

function bytesLeft(holder: HandlerRun, { maxBytes }: BatchSettings): number {
  return maxBytes - holder.members.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** As many as fit if they are like the others. */
function wantOf(holder: HandlerRun, batch: BatchSettings): number {
  const { length } = holder.members;
  const meanBytes = (batch.maxBytes - bytesLeft(holder, batch)) / length;
  const byBytes = Math.max(1, Math.floor(bytesLeft(holder, batch) / meanBytes));
  return Math.min(roomIn(holder, batch), byBytes, Math.max(2 * GROWTH, GROWTH * length));
}
