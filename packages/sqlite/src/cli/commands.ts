import type { Answer, Inside } from './inside.ts';
import { putBack, removeAll, type Moved } from './moving.ts';
import { deliveries, notThere, quoted } from './sentences.ts';
import type { Request } from './usage.ts';

/** Says something while a command goes on. */
export type Tell = (text: string) => void;

export async function redrive(inside: Inside, request: Request, tell: Tell): Promise<Answer> {
  const { id, key, isPatient } = request;
  const { shelf } = inside;
  const nowMs = Date.now();
  const { count: total, upTo } = shelf.count(id, { key });
  if (id !== null && total === 0) return notThere(id, key, 'on the shelf');
  const moved = await putBack(
    inside,
    { total, move: (portion) => shelf.redrive(id, { key }, { ...portion, upTo }, nowMs) },
    { isPatient, onWait: waiting(tell) },
  );
  return answerOf(moved, 'redriven', 'put back', 'stay on the shelf');
}

export async function replay(inside: Inside, request: Request, tell: Tell): Promise<Answer> {
  const { id, key, isPatient } = request;
  const { kept } = inside;
  const nowMs = Date.now();
  const { count: total, upTo } = kept.count(id, { key });
  if (id !== null && total === 0) return notThere(id, key, 'among the completed that are kept');
  const moved = await putBack(
    inside,
    { total, move: (portion) => kept.replay(id, { key }, { ...portion, upTo }, nowMs) },
    { isPatient, onWait: waiting(tell) },
  );
  return answerOf(moved, 'replayed', 'put back', 'stay completed');
}

export async function purge({ shelf }: Inside, { id, key }: Request): Promise<Answer> {
  const { count: total, upTo } = shelf.count(id, { key });
  if (id !== null && total === 0) return notThere(id, key, 'on the shelf');
  const moved = await removeAll({ total, move: (portion) => shelf.purge(id, { key }, { ...portion, upTo }) });
  return { text: `${deliveries(moved.count)} thrown away.`, data: { purged: moved.count } };
}

export function pause({ pauses }: Inside, { key }: Request): Answer {
  const isNew = pauses.pause(key ?? null);
  return { text: `${isNew ? 'Paused' : 'Paused before'}: ${whatOf(key)}.`, data: { paused: key ?? true } };
}

export function resume({ pauses }: Inside, { key }: Request): Answer {
  if (!pauses.resume(key ?? null)) return { problem: `Nothing to resume: ${whatOf(key)} is not paused.` };
  return { text: `Resumed: ${whatOf(key)}.`, data: { resumed: key ?? true } };
}

function whatOf(key: string | undefined): string {
  return key === undefined ? 'the inbox' : `the key ${quoted(key)}`;
}

export function forget({ totals, kept, remembered }: Inside, { id, key }: Request): Answer {
  const ref = { key: key ?? '', id: id ?? '' };
  const isForgotten = totals.transaction((changes) => {
    const wasKept = kept.remove(ref.key, ref.id, changes);
    return remembered.remove(ref, changes) || wasKept;
  });
  if (!isForgotten)
    return { problem: `The id ${quoted(ref.id)} of the key ${quoted(ref.key)} is not known as completed.` };
  return { text: 'Forgotten: a delivery of this id is accepted again.', data: { forgotten: true } };
}

function waiting(tell: Tell): (moved: Moved) => void {
  return ({ count, left }) => {
    tell(`${deliveries(count)} put back. The inbox has no room for more; ${String(left)} to go.`);
  };
}

function answerOf({ count, left }: Moved, name: string, done: string, stays: string): Answer {
  const rest = left === 0 ? '' : ` The inbox has no room for more; ${deliveries(left)} ${stays}.`;
  return {
    text: `${deliveries(count)} ${done}.${rest}`,
    data: left === 0 ? { [name]: count } : { [name]: count, left },
    isPartial: left > 0,
  };
}
