import type { DeadLetter, ListedDeadLetter } from '@webhook-backpressure/inbox';
import { json, problem } from '../answers/answers.ts';
import { storeError } from './library-error.ts';
import { withDeadLetters, type Sources, type WithDeadLetters } from './sources.ts';

/** How many dead letters a list has. */
const PER_PAGE = 50;
/** How much of a body is shown, in bytes. */
const SHOWN_BYTES = 65_536;
/** How much of an error a list shows, in characters. */
const SHOWN_ERROR = 500;

/** A page of the dead letters of an inbox or sender, the oldest first. */
export async function listDeadLetters(query: URLSearchParams, sources: Sources): Promise<Response> {
  const source = sourceOf(query, sources);
  if (source === undefined) return unknownInbox();
  const offset = Number(query.get('cursor') ?? 0);
  if (!Number.isSafeInteger(offset) || offset < 0) return problem('BAD_REQUEST', 'cursor is not valid.');
  return await asking(async () => {
    // One more shows whether there is a next page.
    const found = await source.deadLetters.list({ limit: PER_PAGE + 1, offset });
    const items = found.slice(0, PER_PAGE).map(listed);
    return json({ items, next: found.length > PER_PAGE ? String(offset + PER_PAGE) : null });
  });
}

/** One dead letter with its headers and the beginning of its body. */
export async function showDeadLetter(query: URLSearchParams, sources: Sources): Promise<Response> {
  const source = sourceOf(query, sources);
  if (source === undefined) return unknownInbox();
  const [key, id] = [query.get('key'), query.get('id')];
  if (id === null) return problem('BAD_REQUEST', 'id is missing.');
  return await asking(async () => {
    const found = await source.deadLetters.get(id, key === null ? {} : { key });
    return found === undefined ? problem('NOT_FOUND', 'There is no such dead letter.') : json(shown(found));
  });
}

function sourceOf(query: URLSearchParams, sources: Sources): WithDeadLetters | undefined {
  return withDeadLetters({ inbox: query.get('inbox'), sender: query.get('sender') }, sources);
}

async function asking(ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (error) {
    return storeError(error);
  }
}

export function unknownInbox(): Response {
  return problem('NOT_FOUND', 'No inbox or sender has this name.');
}

type Facts = Omit<ListedDeadLetter, 'bodyBytes' | 'encryptedBy' | 'params' | 'context' | 'headers'>;

function facts({ key, id, sender, method, url, attempts, reason, receivedAt, shelvedAt }: Facts): object {
  return {
    ...{ key, id, sender: sender ?? null, method, url, attempts, reason },
    ...{ receivedAt: receivedAt.getTime(), deadAt: shelvedAt.getTime() },
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
