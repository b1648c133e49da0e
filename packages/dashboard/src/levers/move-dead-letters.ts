import type { Clock } from '@webhook-backpressure/base';
import { json, problem } from '../answers/answers.ts';
import type { Change } from '../state/page-state.ts';
import { unknownInbox } from './dead-letters.ts';
import { storeError } from './library-error.ts';
import { withDeadLetters, type Sources } from './sources.ts';

/** How long a request may redrive, in milliseconds. A full inbox lets a redrive of all dead letters wait. */
const LONGEST_REDRIVE_MS = 20_000;

/** What a request to redrive or purge dead letters needs. */
export interface Moving {
  readonly action: 'redrive' | 'purge';
  readonly body: Readonly<Record<string, unknown>>;
  readonly sources: Sources;
  readonly clock: Clock;
  readonly wallMs: () => number;
}

/** Redrives or purges the dead letters of an inbox or sender: of one id, of one key, or all. */
export async function moveDeadLetters({
  action,
  body,
  sources,
  clock,
  wallMs,
}: Moving): Promise<{ readonly answer: Response; readonly change?: Change | undefined }> {
  const { inbox, sender, key, id } = body;
  const source = withDeadLetters({ inbox, sender }, sources);
  if (source === undefined) return { answer: unknownInbox() };
  if (!isTextOrAbsent(key) || !isTextOrAbsent(id)) {
    return { answer: problem('BAD_REQUEST', 'key and id must be strings.') };
  }
  // The call takes this id for all of them.
  if (id === 'all') {
    return { answer: problem('BAD_REQUEST', 'A dead letter with the id "all" cannot be chosen alone.') };
  }
  const scope = key === undefined ? {} : { key };
  const which = id ?? 'all';
  try {
    const { count, isComplete } =
      action === 'redrive'
        ? await forAWhile(clock, (signal) => source.deadLetters.redrive(which, { ...scope, signal }))
        : { count: await source.deadLetters.purge(which, scope), isComplete: true };
    const answer = json({ count, isComplete });
    if (count === 0) return { answer };
    return { answer, change: { at: wallMs(), kind: source.kind, name: source.name, action, count } };
  } catch (error) {
    return { answer: storeError(error) };
  }
}

async function forAWhile(
  clock: Clock,
  redrive: (signal: AbortSignal) => Promise<number>,
): Promise<{ count: number; isComplete: boolean }> {
  const stop = new AbortController();
  const timer = clock.setTimeout(() => {
    stop.abort();
  }, LONGEST_REDRIVE_MS);
  try {
    return { count: await redrive(stop.signal), isComplete: !stop.signal.aborted };
  } finally {
    clock.clearTimeout(timer);
  }
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
