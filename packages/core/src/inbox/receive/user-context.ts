import { BackpressureError, invalid } from '../../errors.ts';
import { isThenable } from '../../checks.ts';
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
  if (isThenable(given)) {
    // Its rejection would end the process; the error below says what is wrong.
    Promise.resolve(given).catch(() => undefined);
    throw invalid('ERR_WBP_CONTEXT', 'what context returns', 'JSON, not a promise of it', given);
  }
  const context = checked(given);
  const size = JSON.stringify(context).length;
  if (size <= MAX_CHARACTERS) return context;
  throw new BackpressureError(
    'ERR_WBP_CONTEXT',
    `What context returns must have at most ${String(MAX_CHARACTERS)} characters as JSON, but had ${String(size)}.`,
  );
}

function checked(given: unknown): Json {
  try {
    return frozenJson(given);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new BackpressureError(
      'ERR_WBP_CONTEXT',
      `What context returns must be JSON, but ${error.message.replace(/^\./, '')}.`,
    );
  }
}
