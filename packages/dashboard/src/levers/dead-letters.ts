import { BackpressureError, type Clock } from '@webhook-backpressure/base';
import type { DeadLetter, DeliveryFilter, ListedDeadLetter } from '@webhook-backpressure/inbox';
import { refused } from '../answers/answers.ts';
import { fromStore, libraryError, withDeadLetters, type Outcome, type Sources } from './sources.ts';

/** How many dead letters a list has. */
const PER_PAGE = 50;
/** How much of a body is shown, in bytes. */
const SHOWN_BYTES = 65_536;
/** How much of an error a list shows, in characters. */
const SHOWN_ERROR = 500;

/** How long a list may search, in milliseconds. Its next page continues the search. */
const MAX_SEARCH_MS = 10_000;

/** A page of the dead letters of an inbox or sender: the oldest first, or those that match in the order of arrival. */
export async function listDeadLetters(
  query: URLSearchParams,
  sources: Sources,
  clock: Clock,
): Promise<object> {
  const { deadLetters } = withDeadLetters(query.get('inbox'), query.get('outbox'), sources);
  const offset = Number(query.get('cursor') ?? 0);
  if (!Number.isSafeInteger(offset) || offset < 0) throw refused('BAD_REQUEST', 'cursor is not valid.');
  const given = FILTER_FIELDS.filter((field) => query.has(field));
  if (given.length > 0) {
    const filter = filterOf(Object.fromEntries(given.map((field) => [field, query.get(field)])));
    const page = await withFilter(filter, () =>
      forAWhile(clock, MAX_SEARCH_MS, (signal) =>
        deadLetters.list({ ...filter, limit: PER_PAGE, after: offset, signal }),
      ),
    );
    const { deliveries, next } = page.result;
    return { items: deliveries.map(listed), next: next === undefined ? null : String(next) };
  }
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

/** How long a request may redrive or purge, in milliseconds. A full inbox lets a redrive of all dead letters wait. */
const MAX_REDRIVE_MS = 20_000;

/**
 * Redrives or purges the dead letters of an inbox or sender: of one id, of one key, those that match a filter, or all. With
 * `dryRun` nothing is moved, and the answer has the first ones that would be.
 */
export async function moveDeadLetters(
  action: 'redrive' | 'purge',
  { inbox, outbox, key, id, filter: given, dryRun = false }: Readonly<Record<string, unknown>>,
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
  if (typeof dryRun !== 'boolean') throw refused('BAD_REQUEST', 'dryRun must be a boolean.');
  if (given !== undefined && (key !== undefined || id !== undefined)) {
    throw refused('BAD_REQUEST', 'A filter has its key in it, and no id beside it.');
  }
  const filter = given === undefined ? undefined : filterOf(given);
  const which = filter ?? id ?? 'all';
  const scope = key === undefined ? {} : { key };
  return await withFilter(filter ?? {}, async () => {
    if (dryRun) {
      const { result, isComplete } = await forAWhile(clock, MAX_REDRIVE_MS, (signal) =>
        deadLetters[action](which, { ...scope, signal, dryRun }),
      );
      return { answer: { count: result.count, isComplete, first: result.first.map(listed) } };
    }
    const { result: count, isComplete } = await forAWhile(clock, MAX_REDRIVE_MS, (signal) =>
      deadLetters[action](which, { ...scope, signal }),
    );
    const answer = { count, isComplete };
    return count === 0 ? { answer } : { answer, change: { kind, name, action, count } };
  });
}

const TEXT_FIELDS = ['key', 'sender', 'event', 'error', 'text'] as const;
const TIME_FIELDS = ['receivedFrom', 'receivedTo', 'endedFrom', 'endedTo'] as const;
const FILTER_FIELDS: readonly string[] = [...TEXT_FIELDS, ...TIME_FIELDS];

/** A filter in JSON or in a query, in which times are milliseconds since 1970. The library checks the values. */
function filterOf(given: unknown): DeliveryFilter {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refused('BAD_REQUEST', 'filter must be an object.');
  }
  const isTime = (field: string): boolean => (TIME_FIELDS as readonly string[]).includes(field);
  return Object.fromEntries(
    Object.entries(given).map(([field, value]: [string, unknown]) => [
      field,
      isTime(field) ? new Date(value === '' || value === null ? NaN : Number(value)) : value,
    ]),
  );
}

/** An invalid filter is the request's fault. */
async function withFilter<T>(filter: DeliveryFilter, call: () => Promise<T>): Promise<T> {
  return await fromStore(async () => {
    try {
      return await call();
    } catch (error) {
      const isInvalid =
        error instanceof BackpressureError &&
        (error.code === 'ERR_WBP_DEAD_LETTERS' || error.code === 'ERR_WBP_UNKNOWN_OPTION');
      throw isInvalid ? libraryError(error, 400, Object.keys(filter)) : error;
    }
  });
}

async function forAWhile<T>(
  clock: Clock,
  ms: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly result: T; readonly isComplete: boolean }> {
  const stop = new AbortController();
  const timer = clock.setTimeout(() => {
    stop.abort();
  }, ms);
  try {
    return { result: await call(stop.signal), isComplete: !stop.signal.aborted };
  } finally {
    clock.clearTimeout(timer);
  }
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
