import type { Awaitable } from '../delivery/stored-delivery.ts';
import type { Counted, MovedDelivery, Portion } from '../store/store-admin.ts';
import { PART_BYTES, PartSize } from '../store-calls/part-size.ts';
import { holdTimer, systemClock } from '@webhook-backpressure/base';
import type { ToolStore } from './target.ts';
import { deliveries, notFound, quoted, type Answer } from './text.ts';
import type { Context, Request } from './usage.ts';

/** The least time between two parts, for the receiver. */
const PAUSE_MS = 5;
const CHECK_AGAIN_MS = 500;
const ANY = Number.MAX_SAFE_INTEGER;

/** Deliveries to put back. */
interface Move {
  readonly count: () => Awaitable<Counted>;
  readonly move: (portion: Portion, upTo: number) => Awaitable<readonly MovedDelivery[]>;
  /** Their name in the output. */
  readonly done: string;
  /** Where the others stay. */
  readonly where: string;
}

export async function redrive(store: ToolStore, request: Request, context: Context): Promise<Answer> {
  const { id, key } = request;
  const nowMs = Date.now();
  return putBack(store, request, context, {
    count: () => store.countDeadLetters(id, { key }),
    move: (portion, upTo) => store.redrive(id, { key, ...portion, upTo, nowMs }),
    done: 'redriven',
    where: 'in the dead-letter queue',
  });
}

export async function replay(store: ToolStore, request: Request, context: Context): Promise<Answer> {
  const { id, key } = request;
  const nowMs = Date.now();
  return putBack(store, request, context, {
    count: () => store.countCompleted(id, { key }),
    move: (portion, upTo) => store.replay(id, { key, ...portion, upTo, nowMs }),
    done: 'replayed',
    where: 'among the completed deliveries',
  });
}

/** Deletes dead letters, in parts between which the receiver can use the store. */
export async function purge(store: ToolStore, { id, key }: Request): Promise<Answer> {
  const { count: total, upTo } = await store.countDeadLetters(id, { key });
  if (id !== null && total === 0) return notFound(id, key, 'in the dead-letter queue');
  const size = new PartSize();
  let count = 0;
  while (count < total) {
    const limit = Math.min(size.count, total - count);
    const part = await movePart(size, () => store.purge(id, { key, limit, maxBytes: PART_BYTES, upTo }));
    if (part === 0) break;
    count += part;
  }
  return { text: `${deliveries(count)} deleted.`, data: { purged: count } };
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

/**
 * Puts deliveries back into the queue, in parts, while the queue is below the low-water mark: above it, new deliveries
 * would be refused. At the mark it waits for room if a process has the store open.
 */
async function putBack(
  store: ToolStore,
  { id, key, waitsForRoom }: Request,
  { report }: Context,
  { count: countAll, move, done, where }: Move,
): Promise<Answer> {
  // Later deliveries are not moved, or one that fails immediately would be moved again and again.
  const { count: total, upTo } = await countAll();
  if (id !== null && total === 0) return notFound(id, key, where);
  const size = new PartSize();
  let count = 0;
  let isDone = total === 0;
  let isWaiting = false;
  while (!isDone) {
    // A single delivery is put back regardless of the mark.
    const room = total === 1 ? { count: ANY, bytes: ANY } : await roomIn(store);
    if (room.count >= 1 && room.bytes >= 1) {
      const limit = Math.min(size.count, total - count, room.count);
      const part = await movePart(size, () => move({ limit, maxBytes: room.bytes }, upTo));
      count += part;
      // None: another process has moved the rest.
      isDone = part === 0 || count === total;
      isWaiting = false;
      continue;
    }
    if (!waitsForRoom || !(await isInUse(store))) break;
    if (!isWaiting)
      report(
        `${deliveries(count)} put back into the queue, ${String(total - count)} to go. Waiting until the queue has room for more.`,
      );
    isWaiting = true;
    await sleep(CHECK_AGAIN_MS);
  }
  const left = isDone ? 0 : Math.min(total - count, (await countAll()).count);
  const more = left === 0 ? '' : ` The queue has no room for more: ${deliveries(left)} left ${where}.`;
  return {
    text: `${deliveries(count)} put back into the queue.${more}`,
    data: left === 0 ? { [done]: count } : { [done]: count, left },
    isPartial: left > 0,
  };
}

/** Moves a part, and then pauses for as long as it took. */
async function movePart(size: PartSize, move: () => Awaitable<readonly MovedDelivery[]>): Promise<number> {
  const startedMs = systemClock.now();
  const { length } = await move();
  const tookMs = systemClock.now() - startedMs;
  size.note(tookMs);
  await sleep(Math.max(PAUSE_MS, tookMs));
  return length;
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
