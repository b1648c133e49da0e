import { holdTimer, systemClock } from '@webhook-backpressure/base';
import { type Batches, batchesOf, type MoveCall, tryOut } from '../admin/batches.ts';
import { type Candidate, needsScan } from '../admin/delivery-filter.ts';
import { completedList, deadLetterList, type FinishedList } from '../admin/finished-list.ts';
import { MovePace } from '../admin/move-pace.ts';
import { PART_BYTES, PartSize } from '../store-calls/part-size.ts';
import { completedData, completedTable, deadData, deadTable } from './listing.ts';
import type { ToolStore } from './target.ts';
import { deliveries, keyless, notFound, quoted, type Answer } from './text.ts';
import type { Context, Request } from './usage.ts';

/** The least time between two parts, for the receiver. */
const PAUSE_MS = 5;
const CHECK_AGAIN_MS = 500;
/** How often a long command reports its progress. */
const REPORT_MS = 5000;
const ANY = Number.MAX_SAFE_INTEGER;

export async function redrive(store: ToolStore, request: Request, context: Context): Promise<Answer> {
  const nowMs = Date.now();
  return putBack(store, request, context, {
    list: deadLetterList(store, keyless),
    move: (id, portion) => store.redrive(id, { ...portion, nowMs }),
    done: 'redriven',
    where: 'in the dead-letter queue',
    tableOf: deadTable,
    dataOf: deadData,
  });
}

export async function replay(store: ToolStore, request: Request, context: Context): Promise<Answer> {
  const nowMs = Date.now();
  return putBack(store, request, context, {
    list: completedList(store, keyless),
    move: (id, portion) => store.replay(id, { ...portion, nowMs }),
    done: 'replayed',
    where: 'among the completed deliveries',
    tableOf: completedTable,
    dataOf: completedData,
  });
}

/** Deletes dead letters, in parts between which the receiver can use the store. */
export async function purge(store: ToolStore, request: Request, { report }: Context): Promise<Answer> {
  const { id, key, perSecond } = request;
  const list = deadLetterList(store, keyless);
  if (request.isDryRun) return dryRun(request, { list, tableOf: deadTable, dataOf: deadData }, 'deleted');
  const batches = await batchesOf(list, request, (one, portion) => store.purge(one, portion));
  if (id !== null && batches.total === 0) return notFound(id, key, 'in the dead-letter queue');
  const run = new MoveRun(batches, perSecond, 'deleted', report);
  while (!batches.isDone) await run.next({ count: ANY, bytes: PART_BYTES });
  return { text: `${deliveries(run.moved)} deleted.`, data: { purged: run.moved } };
}

export async function pause(store: ToolStore, { key }: Request): Promise<Answer> {
  const isNew = await store.pause(key ?? null);
  return { text: `${isNew ? 'Paused' : 'Already paused'}: ${whatOf(key)}.`, data: { paused: key ?? true } };
}

export async function resume(store: ToolStore, { key }: Request): Promise<Answer> {
  if (!(await store.resume(key ?? null)))
    return { problem: `Nothing to resume: ${whatOf(key)} is not paused.` };
  return { text: `Resumed: ${whatOf(key)}.`, data: { resumed: key ?? true } };
}

function whatOf(key: string | undefined): string {
  return key === undefined ? 'the inbox' : `the key ${quoted(key)}`;
}

export async function forget(store: ToolStore, { id, key }: Request): Promise<Answer> {
  const ref = { key: key ?? '', id: id ?? '' };
  const isForgotten = await store.forgetId(ref);
  if (!isForgotten)
    return {
      problem: `No completed delivery with the id ${quoted(ref.id)} and the key ${quoted(ref.key)} is remembered.`,
    };
  return { text: 'Forgotten. A delivery with this id is accepted again.', data: { forgotten: true } };
}

/** Deliveries that a command moves. */
interface Listing<T extends Candidate> {
  readonly list: FinishedList<T>;
  readonly tableOf: (listed: readonly T[]) => string;
  readonly dataOf: (one: T) => object;
}

/** Deliveries to put back. */
interface Move<T extends Candidate> extends Listing<T> {
  readonly move: MoveCall;
  /** Their name in the output. */
  readonly done: string;
  /** Where the others stay. */
  readonly where: string;
}

async function dryRun<T extends Candidate>(
  { id, filter }: Request,
  { list, tableOf, dataOf }: Listing<T>,
  done: string,
): Promise<Answer> {
  const { count, first } = await tryOut(list, { id, filter }, () => false);
  const lines = [`${deliveries(count)} would be ${done}.`];
  if (first.length > 0) lines.push(tableOf(first));
  if (count > first.length) lines.push(`and ${String(count - first.length)} more`);
  return { text: lines.join('\n'), data: { count, first: first.map(dataOf) } };
}

/**
 * Puts deliveries back into the queue, in parts, while the queue is below the low-water mark: above it, new deliveries
 * would be refused. At the mark it waits for room if a process has the store open.
 */
async function putBack<T extends Candidate>(
  store: ToolStore,
  request: Request,
  { report }: Context,
  move: Move<T>,
): Promise<Answer> {
  const { id, key, waitsForRoom, perSecond } = request;
  const { list, where } = move;
  if (request.isDryRun) return dryRun(request, move, 'put back into the queue');
  // Later deliveries are not moved, or one that fails immediately would be moved again and again.
  const batches = await batchesOf(list, request, move.move);
  if (id !== null && batches.total === 0) return notFound(id, key, where);
  const run = new MoveRun(batches, perSecond, 'put back into the queue', report);
  let isWaiting = false;
  while (!batches.isDone) {
    // A single delivery is put back regardless of the mark.
    const room = batches.total === 1 ? { count: ANY, bytes: ANY } : await roomIn(store);
    if (room.count >= 1 && room.bytes >= 1) {
      await run.next(room);
      isWaiting = false;
      continue;
    }
    if (!waitsForRoom || !(await isInUse(store))) break;
    if (!isWaiting)
      report(
        `${deliveries(run.moved)} put back into the queue, ${toGo(batches, run.moved)}. Waiting until the queue has room for more.`,
      );
    isWaiting = true;
    await sleep(CHECK_AGAIN_MS);
  }
  return partlyDone(run.moved, batches, request, move);
}

async function partlyDone<T extends Candidate>(
  count: number,
  batches: Batches,
  { id, filter, key }: Request,
  { list, done, where }: Move<T>,
): Promise<Answer> {
  const text = `${deliveries(count)} put back into the queue.`;
  if (batches.isDone) return { text, data: { [done]: count } };
  // Another process may have moved some.
  const left = needsScan(filter)
    ? (await tryOut(list, { id, filter }, () => false)).count
    : Math.min(batches.remaining, (await list.count(id, { key })).count);
  if (left === 0) return { text, data: { [done]: count } };
  return {
    text: `${text} The queue has no room for more: ${deliveries(left)} left ${where}.`,
    data: { [done]: count, left },
    isPartial: true,
  };
}

/** How much is left; while a filter has left some out, how far the search is. */
function toGo({ looked, total, remaining }: Batches, moved: number): string {
  if (looked === moved) return `${String(remaining)} to go`;
  return `${String(looked)} of ${String(total)} looked at`;
}

/** Moves parts at a rate, and reports the progress of a long run. */
class MoveRun {
  moved = 0;
  readonly #batches: Batches;
  readonly #pace: MovePace;
  readonly #size = new PartSize();
  readonly #done: string;
  readonly #report: (text: string) => void;
  #reportedMs = systemClock.now();

  constructor(batches: Batches, perSecond: number | undefined, done: string, report: (text: string) => void) {
    this.#batches = batches;
    this.#pace = new MovePace(perSecond, () => systemClock.now());
    this.#done = done;
    this.#report = report;
  }

  /** Moves a part, and then pauses for as long as it took. */
  async next({ count, bytes }: { readonly count: number; readonly bytes: number }): Promise<void> {
    if (this.#pace.waitMs > 0) await sleep(this.#pace.waitMs);
    const startedMs = systemClock.now();
    const limit = Math.min(this.#size.count, this.#pace.most, count);
    const { length } = await this.#batches.next({ limit, maxBytes: bytes });
    const tookMs = systemClock.now() - startedMs;
    if (length > 0) this.#size.note(tookMs);
    this.#pace.note(length);
    this.moved += length;
    if (systemClock.now() - this.#reportedMs >= REPORT_MS && !this.#batches.isDone) {
      this.#reportedMs = systemClock.now();
      this.#report(`${deliveries(this.moved)} ${this.#done}, ${toGo(this.#batches, this.moved)}.`);
    }
    await sleep(Math.max(PAUSE_MS, tookMs));
  }
}

async function roomIn(store: ToolStore): Promise<{ readonly count: number; readonly bytes: number }> {
  const mark = await store.room();
  if (mark === undefined) return { count: ANY, bytes: ANY };
  const { depth, bytes } = await store.stats();
  // The mark may be 0. Then one delivery at a time is put back.
  const least = depth === 0 ? 1 : 0;
  return { count: Math.max(least, mark.depth - depth), bytes: Math.max(least, mark.bytes - bytes) };
}

async function isInUse(store: ToolStore): Promise<boolean> {
  return (await store.owners()).some(({ hasEnded }) => !hasEnded);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    holdTimer(systemClock.setTimeout(resolve, ms));
  });
}
