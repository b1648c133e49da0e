import type { Clock } from '@webhook-backpressure/base';
import type { DeadLetter, ListedDeadLetter } from '@webhook-backpressure/inbox';
import { refused } from '../answers/answers.ts';
import { fromStore, withDeadLetters, type Outcome, type Sources } from './sources.ts';

/** How many dead letters a list has. */
const PER_PAGE = 50;
/** How much of a body is shown, in bytes. */
const SHOWN_BYTES = 65_536;
/** How much of an error a list shows, in characters. */
const SHOWN_ERROR = 500;

/** A page of the dead letters of an inbox or sender, the oldest first. */
export async function listDeadLetters(query: URLSearchParams, sources: Sources): Promise<object> {
  const { deadLetters } = withDeadLetters(query.get('inbox'), query.get('outbox'), sources);
  const offset = Number(query.get('cursor') ?? 0);
  if (!Number.isSafeInteger(offset) || offset < 0) throw refused('BAD_REQUEST', 'cursor is not valid.');
  // One more shows whether there is a next page.
  const found = await fromStore(() => deadLetters.list({ limit: PER_PAGE + 1, offset }));
  const items = found.slice(0, PER_PAGE).map(listed);
  return { items, next: found.length > PER_PAGE ? String(offset + PER_PAGE) : null };
}

/** One dead letter with its headers and the beginning of its body. */
export async function showDeadLetter(query: URLSearchParams, sources: Sources): Promise<object> {
  const { deadLetters } = withDeadLetters(query.get('inbox'), query.get('outbox'), sources);
  const [key, id] = [query.get('key'), query.get('id')];
  if (id === null) throw refused('BAD_REQUEST', 'id is missing.');
  const found = await fromStore(() => deadLetters.get(id, key === null ? {} : { key }));
  if (found === undefined) throw refused('NOT_FOUND', 'There is no such dead letter.');
  return shown(found);
}

type Facts = Omit<ListedDeadLetter, 'bodyBytes' | 'encryptedBy' | 'params' | 'context' | 'headers'>;

function facts({ key, id, sender, method, url, attempts, reason, receivedAt, deadAt }: Facts): object {
  return {
    key,
    id,
    sender: sender ?? null,
    method,
    url,
    attempts,
    reason,
    receivedAt: receivedAt.getTime(),
    deadAt: deadAt.getTime(),
  };
}

function listed(one: ListedDeadLetter): object {
  const { error, bodyBytes, encryptedBy } = one;
  const firstPart = error.length > SHOWN_ERROR ? `${error.slice(0, SHOWN_ERROR)}…` : error;
  return { ...facts(one), error: firstPart, bodyBytes, isEncrypted: encryptedBy !== undefined };
}

function shown(one: DeadLetter): object {
  const { error, headers, rawBody } = one;
  // Cut before decoding. The decoder replaces what is not UTF-8.
  const body = new TextDecoder().decode(rawBody.subarray(0, SHOWN_BYTES));
  const bodyBytes = rawBody.byteLength;
  return { ...facts(one), error, headers, body, bodyBytes, isCut: bodyBytes > SHOWN_BYTES };
}

/** How long a request may redrive, in milliseconds. A full inbox lets a redrive of all dead letters wait. */
const MAX_REDRIVE_MS = 20_000;

/** Redrives or purges the dead letters of an inbox or sender: of one id, of one key, or all. */
export async function moveDeadLetters(
  action: 'redrive' | 'purge',
  { inbox, outbox, key, id }: Readonly<Record<string, unknown>>,
  sources: Sources,
  clock: Clock,
): Promise<Outcome> {
  const { kind, name, deadLetters } = withDeadLetters(inbox, outbox, sources);
  if (!isTextOrAbsent(key) || !isTextOrAbsent(id)) {
    throw refused('BAD_REQUEST', 'key and id must be strings.');
  }
  // The call takes this id for all of them.
  if (id === 'all') {
    throw refused('BAD_REQUEST', 'A dead letter with the id "all" cannot be chosen alone.');
  }
  const scope = key === undefined ? {} : { key };
  const which = id ?? 'all';
  const answer = await fromStore(async () =>
    action === 'redrive'
      ? await forAWhile(clock, (signal) => deadLetters.redrive(which, { ...scope, signal }))
      : { count: await deadLetters.purge(which, scope), isComplete: true },
  );
  const { count } = answer;
  return count === 0 ? { answer } : { answer, change: { kind, name, action, count } };
}

async function forAWhile(
  clock: Clock,
  redrive: (signal: AbortSignal) => Promise<number>,
): Promise<{ count: number; isComplete: boolean }> {
  const stop = new AbortController();
  const timer = clock.setTimeout(() => {
    stop.abort();
  }, MAX_REDRIVE_MS);
  try {
    return { count: await redrive(stop.signal), isComplete: !stop.signal.aborted };
  } finally {
    clock.clearTimeout(timer);
  }
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
