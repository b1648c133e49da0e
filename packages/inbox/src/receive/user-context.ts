import { BackpressureError, invalidResult, isThenable } from '@webhook-backpressure/base';
import type { InboxOptions } from '../options/inbox-options.ts';
import { frozenJson, NotJsonError, type Json } from '../delivery/json.ts';

/** The context is stored with every delivery and counts against `maxBytes`. */
const MAX_CHARACTERS = 16 * 1024;

/**
 * The value that the option `context` returns for a request, or null.
 *
 * @throws BackpressureError `ERR_WBP_CONTEXT` when it is not JSON, or too long.
 */
export function contextOf(options: Pick<InboxOptions<never>, 'context'>, source: unknown): Json {
  const given: unknown = options.context?.(source as never);
  if (given === undefined) return null;
  if (isThenable(given)) throw invalidResult('ERR_WBP_CONTEXT', 'context', 'a JSON value', given);
  const context = checked(given);
  const size = JSON.stringify(context).length;
  if (size <= MAX_CHARACTERS) return context;
  throw new BackpressureError(
    'ERR_WBP_CONTEXT',
    `context() must return at most ${String(MAX_CHARACTERS)} characters of JSON, but returned ${String(size)}.`,
  );
}

function checked(given: unknown): Json {
  try {
    return frozenJson(given);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new BackpressureError(
      'ERR_WBP_CONTEXT',
      `context() must return a JSON value, but ${error.message.replace(/^\./, '')}.`,
    );
  }
}
