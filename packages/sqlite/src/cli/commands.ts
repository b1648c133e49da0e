import { notFound, type Answer } from './answer.ts';
import { putBack, removeAll, type Moved } from './bulk.ts';
import type { Tables } from './tables.ts';
import { deliveries, quoted } from './text.ts';
import type { Request } from './usage.ts';

/** Reports progress. */
export type Progress = (text: string) => void;

export async function redrive(tables: Tables, request: Request, report: Progress): Promise<Answer> {
  const { id, key, waitsForRoom } = request;
  const { deadLetters } = tables;
  const nowMs = Date.now();
  const { count: total, upTo } = deadLetters.count(id, { key });
  if (id !== null && total === 0) return notFound(id, key, 'in the dead-letter queue');
  const moved = await putBack(
    tables,
    { total, move: (portion) => deadLetters.redrive(id, { key }, { ...portion, upTo }, nowMs) },
    { waitsForRoom, onWait: waiting(report) },
  );
  return answerOf(moved, 'redriven', 'put back into the queue', 'left in the dead-letter queue');
}

export async function replay(tables: Tables, request: Request, report: Progress): Promise<Answer> {
  const { id, key, waitsForRoom } = request;
  const { completed } = tables;
  const nowMs = Date.now();
  const { count: total, upTo } = completed.count(id, { key });
  if (id !== null && total === 0) return notFound(id, key, 'among the completed deliveries');
  const moved = await putBack(
    tables,
    { total, move: (portion) => completed.replay(id, { key }, { ...portion, upTo }, nowMs) },
    { waitsForRoom, onWait: waiting(report) },
  );
  return answerOf(moved, 'replayed', 'put back into the queue', 'left among the completed deliveries');
}

export async function purge({ deadLetters }: Tables, { id, key }: Request): Promise<Answer> {
  const { count: total, upTo } = deadLetters.count(id, { key });
  if (id !== null && total === 0) return notFound(id, key, 'in the dead-letter queue');
  const moved = await removeAll({
    total,
    move: (portion) => deadLetters.purge(id, { key }, { ...portion, upTo }),
  });
  return { text: `${deliveries(moved.count)} deleted.`, data: { purged: moved.count } };
}

export function pause({ pauses }: Tables, { key }: Request): Answer {
  const isNew = pauses.pause(key ?? null);
  return { text: `${isNew ? 'Paused' : 'Already paused'}: ${whatOf(key)}.`, data: { paused: key ?? true } };
}

export function resume({ pauses }: Tables, { key }: Request): Answer {
  if (!pauses.resume(key ?? null)) return { problem: `Nothing to resume: ${whatOf(key)} is not paused.` };
  return { text: `Resumed: ${whatOf(key)}.`, data: { resumed: key ?? true } };
}

function whatOf(key: string | undefined): string {
  return key === undefined ? 'the inbox' : `the key ${quoted(key)}`;
}

export function forget({ totals, completed, completedIds }: Tables, { id, key }: Request): Answer {
  const ref = { key: key ?? '', id: id ?? '' };
  const isForgotten = totals.transaction((changes) => {
    const wasKept = completed.remove(ref.key, ref.id, changes);
    return completedIds.remove(ref, changes) || wasKept;
  });
  if (!isForgotten)
    return {
      problem: `No completed delivery with the id ${quoted(ref.id)} and the key ${quoted(ref.key)} is remembered.`,
    };
  return { text: 'Forgotten. A delivery with this id is accepted again.', data: { forgotten: true } };
}

function waiting(report: Progress): (moved: Moved) => void {
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
