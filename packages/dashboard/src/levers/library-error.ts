import { BackpressureError } from '@webhook-backpressure/base';
import { json, problem } from '../answers/answers.ts';

const ERRORS_PAGE = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/errors.md';

/** The tail of a message, which leads to a file of the server. */
const TAIL = / \(ERR_WBP_\w+, see [^)]*\)$/;

/**
 * The answer for an error of the library: its code, its sentence, and the address of its heading.
 *
 * @param options - the names of the options that were given, to find which one the error is about.
 */
export function libraryError(
  error: BackpressureError,
  status: number,
  options: readonly string[] = [],
): Response {
  const message = error.message.replace(TAIL, '');
  const help = `${ERRORS_PAGE}#${error.code.toLowerCase()}`;
  const option = options.length === 1 ? options[0] : firstNamed(message, options);
  return json({ code: error.code, message, help, ...(option === undefined ? {} : { option }) }, status);
}

/** The answer for a call of the store that failed. An error that is not the library's may hold a secret. */
export function storeError(error: unknown): Response {
  if (error instanceof BackpressureError) return libraryError(error, 500);
  return problem('FAILED', 'The store failed.');
}

/** The option that a message names first. */
function firstNamed(message: string, options: readonly string[]): string | undefined {
  const words = message.split(/[^\w$-]+/);
  const named = options.filter((option) => words.includes(option));
  return named.sort((a, b) => words.indexOf(a) - words.indexOf(b))[0];
}
