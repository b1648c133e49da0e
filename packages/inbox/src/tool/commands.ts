import { notFound, type Answer } from './answer.ts';
import { putBack, removeAll, type Moved } from './bulk.ts';
import type { Context } from './context.ts';
import type { ToolStore } from './target.ts';
import { deliveries, quoted } from './text.ts';
import type { Request } from './usage.ts';

export async function redrive(store: ToolStore, request: Request, { report }: Context): Promise<Answer> {
  const { id, key, waitsForRoom } = request;
  const nowMs = Date.now();
  const { count: total, upTo } = await store.countShelved(id, { key });
  if (id !== null && total === 0) return notFound(id, key, 'in the dead-letter queue');
  const moved = await putBack(
    store,
    { total, move: (portion) => store.redrive(id, { key, ...portion, upTo, nowMs }) },
    { waitsForRoom, onWait: waiting(report) },
  );
  return answerOf(moved, 'redriven', 'put back into the queue', 'left in the dead-letter queue');
}

export async function replay(store: ToolStore, request: Request, { report }: Context): Promise<Answer> {
  const { id, key, waitsForRoom } = request;
  const nowMs = Date.now();
  const { count: total, upTo } = await store.countCompleted(id, { key });
  if (id !== null && total === 0) return notFound(id, key, 'among the completed deliveries');
  const moved = await putBack(
    store,
    { total, move: (portion) => store.replay(id, { key, ...portion, upTo, nowMs }) },
    { waitsForRoom, onWait: waiting(report) },
  );
  return answerOf(moved, 'replayed', 'put back into the queue', 'left among the completed deliveries');
}

export async function purge(store: ToolStore, { id, key }: Request): Promise<Answer> {
  const { count: total, upTo } = await store.countShelved(id, { key });
  if (id !== null && total === 0) return notFound(id, key, 'in the dead-letter queue');
  const moved = await removeAll({
    total,
    move: (portion) => store.purge(id, { key, ...portion, upTo }),
  });
  return { text: `${deliveries(moved.count)} deleted.`, data: { purged: moved.count } };
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

function waiting(report: Context['report']): (moved: Moved) => void {
  return ({ count, left }) => {
    report(
      `${deliveries(count)} put back into the queue, ${String(left)} to go. Waiting until the queue has room for more.`,
    );
  };
}

function answerOf({ count, left }: Moved, name: string, done: string, rest: string): Answer {
  const more = left === 0 ? '' : ` The queue has no room for more: ${deliveries(left)} ${rest}.`;
  return {
    text: `${deliveries(count)} ${done}.${more}`,
    data: left === 0 ? { [name]: count } : { [name]: count, left },
    isPartial: left > 0,
  };
}
