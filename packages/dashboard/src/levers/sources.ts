import { BackpressureError } from '@webhook-backpressure/base';
import type { DeadLetters, Inbox } from '@webhook-backpressure/inbox';
import type { Intake } from '@webhook-backpressure/core';
import type { ObservableOutbox } from '@webhook-backpressure/observe';
import { json, refused, Refused } from '../answers/answers.ts';
import type { Change } from '../state/page-state.ts';

/** What a request has changed, if anything, and its answer. */
export interface Outcome {
  readonly answer: object;
  readonly change?: Omit<Change, 'at'> | undefined;
}

/** Whose options can be changed. */
export interface Source {
  update(options: object): void;
  snapshot(): { readonly options: { readonly shed: readonly string[] } };
}

/** All sources of the page. */
export interface Sources {
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly inboxes: ReadonlyMap<string, Inbox>;
  readonly outboxes: ReadonlyMap<string, ObservableOutbox>;
}

/** A source with dead letters. */
export interface WithDeadLetters {
  readonly kind: 'inbox' | 'outbox';
  readonly name: string;
  readonly deadLetters: DeadLetters;
}

/** The inbox or the outbox that a request names. */
export function withDeadLetters(inbox: unknown, outbox: unknown, sources: Sources): WithDeadLetters {
  const kind = outbox === undefined || outbox === null ? 'inbox' : 'outbox';
  const name = kind === 'inbox' ? inbox : outbox;
  if (typeof name === 'string') {
    const found = kind === 'inbox' ? sources.inboxes.get(name) : sources.outboxes.get(name);
    if (found !== undefined) return { kind, name, deadLetters: found.deadLetters };
  }
  throw refused('NOT_FOUND', 'No inbox or outbox has this name.');
}

const ERRORS_PAGE = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/errors.md';

/** The tail of a message, which leads to a file of the server. */
const TAIL = / \(ERR_WBP_\w+, see [^)]*\)$/;

/**
 * Refuses a request with an error of the library: its code, its sentence, and the address of its heading.
 *
 * @param options - the names of the options that were given, to find which one the error is about.
 */
export function libraryError(
  error: BackpressureError,
  status: number,
  options: readonly string[] = [],
): Refused {
  const message = error.message.replace(TAIL, '');
  const help = `${ERRORS_PAGE}#${error.code.toLowerCase()}`;
  const option = options.length === 1 ? options[0] : firstNamed(message, options);
  return new Refused(json({ code: error.code, message, help, option }, status));
}

/** What a call of the store resolves to. An error that is not the library's may hold a secret. */
export async function fromStore<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Refused) throw error;
    if (error instanceof BackpressureError) throw libraryError(error, 500);
    throw refused('FAILED', 'The store failed.');
  }
}

/** The option that a message names first. */
function firstNamed(message: string, options: readonly string[]): string | undefined {
  const words = message.split(/[^\w$-]+/);
  const named = options.filter((option) => words.includes(option));
  return named.sort((a, b) => words.indexOf(a) - words.indexOf(b))[0];
}
