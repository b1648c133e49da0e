import { BackpressureError, invalid, type BackpressureErrorCode } from './errors.ts';

/** A longer name is no misspelling, and comparing takes time that grows with its length. */
const LONGEST_NAME = 40;
/** One mistake in so many characters still reads as a misspelling. */
const CHARACTERS_PER_MISTAKE = 3;

/**
 * Checks that `options` is an object without unknown names, since a misspelled option would be ignored silently. A
 * name whose value is `undefined` counts as absent.
 *
 * @param options - what the user gave.
 * @param of - what the options belong to, for the message; `'options'` where that needs no name.
 * @param known - the names that exist.
 * @param code - the code for a value that is no object. Default `ERR_WBP_OPTIONS`.
 * @throws BackpressureError `code`, or `ERR_WBP_UNKNOWN_OPTION` with the nearest known name.
 */
export function checkNames(
  options: unknown,
  of: string,
  known: Iterable<string>,
  code: BackpressureErrorCode = 'ERR_WBP_OPTIONS',
): void {
  checkObject(options, of, code);
  const names = new Set(known);
  for (const [name, value] of Object.entries(options as object)) {
    if (value === undefined || names.has(name)) continue;
    throw new BackpressureError('ERR_WBP_UNKNOWN_OPTION', unknownName('option', name, of, names));
  }
}

/** @throws BackpressureError `code` when the value is no object, or is the request of a framework. */
export function checkObject(
  options: unknown,
  of: string,
  code: BackpressureErrorCode = 'ERR_WBP_OPTIONS',
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(code, of, 'an object', options);
  }
  // A framework that was given the function that makes a middleware calls it with a request.
  const isRequest = ('headers' in options && 'method' in options) || ('req' in options && 'res' in options);
  if (!isRequest) return;
  throw new BackpressureError(
    code,
    `${of} must be an object of options, but was a request: call the function where you mount it, as in ` +
      "app.use('/webhooks', webhookBackpressure()).",
  );
}

/** Says that a name does not exist, and which one may have been meant. */
export function unknownName(
  kind: 'option' | 'field',
  name: string,
  of: string,
  known: Iterable<string>,
): string {
  const names = [...known];
  const near = nearest(name, names);
  // Some names come from what a sender sent: cut short, as all that a message shows.
  const shown = JSON.stringify(name.slice(0, 2 * LONGEST_NAME));
  return [
    `Unknown ${kind} ${shown}${of === 'options' ? '' : ` of ${of}`}.`,
    ...(near === undefined ? [] : [`Did you mean ${JSON.stringify(near)}?`]),
    `(known: ${names.join(', ')})`,
  ].join(' ');
}

function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  let best: string | undefined;
  let least = Math.floor(name.length / CHARACTERS_PER_MISTAKE) + 1;
  for (const one of known) {
    const mistakes = mistakesBetween(name.toLowerCase(), one.toLowerCase());
    if (mistakes >= least) continue;
    least = mistakes;
    best = one;
  }
  return best;
}

/** Characters to insert, delete, replace, or swap with their neighbour (optimal string alignment). */
function mistakesBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let mistakes = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (isSame ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        mistakes = Math.min(mistakes, (beforeLast[j - 2] as number) + 1);
      }
      row.push(mistakes);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
