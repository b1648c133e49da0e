import { BackpressureError, invalid, type BackpressureErrorCode } from './errors.ts';

/** Longer names are not compared: the time grows with the product of both lengths. */
const MAX_NAME = 40;
/** A name is suggested if it differs in at most one of this many characters. */
const CHARACTERS_PER_MISTAKE = 3;

/**
 * Names that other libraries use, with groups of ours. A group of options may have those of the first one, and not of the
 * next. Several names in one: the other name may mean each of them.
 */
const ALIASES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  max: [['concurrency', 'capacity'], ['maxSeconds']],
  limit: [['concurrency', 'capacity']],
  size: [['capacity']],
  maxSize: [['capacity']],
  maxQueueSize: [['capacity']],
  queueLimit: [['capacity']],
  concurrency: [['maxInFlight'], ['defaults.maxInFlight']],
  concurrent: [['concurrency'], ['maxInFlight'], ['defaults.maxInFlight']],
  maxConcurrent: [['concurrency'], ['maxInFlight'], ['defaults.maxInFlight']],
  rate: [['maxStartsPerSecond'], ['defaults.rate']],
  limiter: [['maxStartsPerSecond'], ['defaults.rate']],
  windowMs: [['maxStartsPerSecond'], ['defaults.rate']],
  timeout: [['timeoutMs'], ['maxWaitMs', 'maxHandlingMs']],
  attempts: [['retry.attempts']],
  maxAttempts: [['retry.attempts'], ['attempts']],
  maxRetries: [['retry.attempts'], ['attempts']],
  retries: [['retry.attempts'], ['attempts']],
  backoff: [['retry.firstDelayMs'], ['firstDelayMs']],
  handler: [['process'], ['onRefused']],
  weight: [['keyGenerator']],
  priority: [['delivery']],
};

/**
 * Checks that `options` is an object and has no unknown names. A name whose value is `undefined` is absent.
 *
 * @param options - the options as the user passed them.
 * @param of - the option, or the function such as `update()`, that they belong to. `'options'` omits it in messages.
 * @param known - the names that exist.
 * @param code - the code for a value that is not an object. Default `ERR_WBP_OPTIONS`.
 * @throws BackpressureError `code`, or `ERR_WBP_UNKNOWN_OPTION`, whose message suggests a known name, or lists all.
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

/** @throws BackpressureError `code` when the value is not an object, or is an intake or a framework's request. */
export function checkObject(
  options: unknown,
  of: string,
  code: BackpressureErrorCode = 'ERR_WBP_OPTIONS',
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(code, of.endsWith('()') ? `The argument of ${of}` : of, 'an object', options);
  }
  // It has no enumerable unknown name, and would create a second intake with default options.
  if (of === 'options' && 'admit' in options && 'snapshot' in options) {
    throw new BackpressureError(
      code,
      'options must be an object of options, but was an intake. Pass it as the option `intake`: ' +
        'webhookBackpressure({ intake }).',
    );
  }
  // A framework passes a request when `webhookBackpressure` itself was mounted instead of its result.
  const isRequest = ('headers' in options && 'method' in options) || ('req' in options && 'res' in options);
  if (!isRequest) return;
  throw new BackpressureError(
    code,
    `${of} must be an object, but was a request. Mount what the function returns, as in ` +
      "app.use('/webhooks', webhookBackpressure()).",
  );
}

/** The sentence for a name that does not exist, with the known name that is probably meant, else with all. */
export function unknownName(
  kind: 'option' | 'field' | 'sender' | 'command',
  name: string,
  of: string,
  known: Iterable<string>,
): string {
  const names = [...known];
  const near = (kind === 'option' ? ofOtherLibraries(name, names) : undefined) ?? nearest(name, names);
  // Some names come from a request: they are cut, like every value in a message.
  const shown = JSON.stringify(name.slice(0, 2 * MAX_NAME));
  const sentence = `Unknown ${kind} ${shown}${of === 'options' ? '' : ` in ${of}`}.`;
  if (near.length > 0)
    return `${sentence} Did you mean ${near.map((one) => JSON.stringify(one)).join(' or ')}?`;
  return `${sentence} Known ${kind}s: ${names.join(', ')}.`;
}

function ofOtherLibraries(name: string, known: readonly string[]): readonly string[] | undefined {
  if (!Object.hasOwn(ALIASES, name)) return undefined;
  return ALIASES[name]?.find((ours) => ours.every((one) => known.includes(one.split('.')[0] as string)));
}

/**
 * The sentence for the first option of a command line that does not exist.
 *
 * @param args - the arguments. A value that begins with a dash must be joined to its option, as in `--key=-1`.
 * @param known - the options with their dashes.
 */
export function unknownOption(args: readonly string[], known: readonly string[]): string | undefined {
  const end = args.indexOf('--');
  const names = args.slice(0, end < 0 ? undefined : end).map((arg) => arg.replace(/=.*$/s, ''));
  const unknown = names.find((name) => /^-./.test(name) && !known.includes(name));
  return unknown === undefined ? undefined : unknownName('option', unknown, 'options', known);
}

function nearest(name: string, known: readonly string[]): readonly string[] {
  if (name.length > MAX_NAME) return [];
  let best: readonly string[] = [];
  let least = Math.floor(name.length / CHARACTERS_PER_MISTAKE) + 1;
  for (const one of known) {
    const mistakes = mistakesBetween(name.toLowerCase(), one.toLowerCase());
    if (mistakes >= least) continue;
    least = mistakes;
    best = [one];
  }
  return best;
}

/** Characters to insert, delete, replace, or swap with the next one (optimal string alignment). */
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
