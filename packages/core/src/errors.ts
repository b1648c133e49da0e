/** Where each code is explained: one heading per code. */
const ERROR_DOCS = 'docs/errors.md';

/** The stable codes of {@link BackpressureError}. A code never changes its meaning. */
export type BackpressureErrorCode =
  | 'ERR_WBP_OPTIONS'
  | 'ERR_WBP_UNKNOWN_OPTION'
  | 'ERR_WBP_CAPACITY'
  | 'ERR_WBP_WATER_MARKS'
  | 'ERR_WBP_CONCURRENCY'
  | 'ERR_WBP_MAX_CONCURRENCY_PER_KEY'
  | 'ERR_WBP_DRAIN_RATE'
  | 'ERR_WBP_MAX_WAIT'
  | 'ERR_WBP_MAX_HANDLING'
  | 'ERR_WBP_OVERFLOW'
  | 'ERR_WBP_STATUS_CODE'
  | 'ERR_WBP_RETRY_AFTER'
  | 'ERR_WBP_SHED'
  | 'ERR_WBP_DRY_RUN'
  | 'ERR_WBP_PRESSURE'
  | 'ERR_WBP_CLOCK'
  | 'ERR_WBP_RANDOM'
  | 'ERR_WBP_NOT_TUNABLE'
  | 'ERR_WBP_DELIVERY'
  | 'ERR_WBP_CLOSE'
  | 'ERR_WBP_READINESS'
  | 'ERR_WBP_LISTENER'
  | 'ERR_WBP_INTAKE'
  | 'ERR_WBP_CALLBACK'
  | 'ERR_WBP_HEADERS'
  | 'ERR_WBP_BODY_TIMEOUT'
  | 'ERR_WBP_SENDERS'
  | 'ERR_WBP_ORIGINS'
  | 'ERR_WBP_SIZE_QUEUE'
  | 'ERR_WBP_STORE'
  | 'ERR_WBP_STORE_VALUE'
  | 'ERR_WBP_PROCESS'
  | 'ERR_WBP_VERIFY'
  | 'ERR_WBP_VERIFIER'
  | 'ERR_WBP_SECRET'
  | 'ERR_WBP_CONTEXT'
  | 'ERR_WBP_REDACT'
  | 'ERR_WBP_ENCRYPT'
  | 'ERR_WBP_DECRYPT'
  | 'ERR_WBP_RETRY'
  | 'ERR_WBP_RETRY_SECONDS'
  | 'ERR_WBP_ORDERED'
  | 'ERR_WBP_PAUSE'
  | 'ERR_WBP_MAX_BODY'
  | 'ERR_WBP_MAX_BYTES'
  | 'ERR_WBP_RETENTION'
  | 'ERR_WBP_MAX_SHELVED'
  | 'ERR_WBP_KEEP_COMPLETED'
  | 'ERR_WBP_BODY_READ'
  | 'ERR_WBP_DEAD_LETTERS'
  | 'ERR_WBP_SQLITE_PATH'
  | 'ERR_WBP_SQLITE_BUSY_TIMEOUT'
  | 'ERR_WBP_SQLITE_MAX_FILE'
  | 'ERR_WBP_SQLITE_MAX_WAL'
  | 'ERR_WBP_SQLITE_DRIVER'
  | 'ERR_WBP_SQLITE_THREAD'
  | 'ERR_WBP_SQLITE_THREAD_ENDED'
  | 'ERR_WBP_SQLITE_NOT_OPEN'
  | 'ERR_WBP_SQLITE_OPEN'
  | 'ERR_WBP_SQLITE_FOREIGN'
  | 'ERR_WBP_SQLITE_VERSION'
  | 'ERR_WBP_SQLITE_DAMAGED'
  | 'ERR_WBP_SQLITE_LOCKED'
  | 'ERR_WBP_SQLITE_REPLACED'
  | 'ERR_WBP_SQLITE_WRITE';

/**
 * What this library throws when it is used wrongly. The message names the option, the rule and the value that
 * was given; `help` leads to the heading of the code in the documentation.
 */
export class BackpressureError extends Error {
  readonly code: BackpressureErrorCode;
  readonly help: string;

  constructor(code: BackpressureErrorCode, sentence: string, options?: { cause?: unknown }) {
    const help = `${ERROR_DOCS}#${code.toLowerCase()}`;
    super(`${sentence} (${code}, see ${help})`, options);
    this.name = 'BackpressureError';
    this.code = code;
    this.help = help;
  }
}

/** Says that `option` breaks `rule`, with the value that was given. */
export function invalid(
  code: BackpressureErrorCode,
  option: string,
  rule: string,
  given: unknown,
): BackpressureError {
  return new BackpressureError(code, `${option} must be ${rule}, but was ${show(given)}.`);
}

const SHOWN_CHARACTERS = 80;

/** A value as an error message names it: short, and told apart from a string that looks like it. Never throws. */
export function show(value: unknown): string {
  const text = describe(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/**
 * What was thrown, or rejected with, as text for a warning. Never throws: code may throw anything, also an object
 * without a prototype, on which `String` throws.
 *
 * @param thrown - any value.
 * @returns for an error its name and message, for anything else what `String` says, if it can.
 */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return show(thrown);
  }
}

/** Undefined when the object's own toJSON returns that, although the types say otherwise. */
function toJson(value: object): string | undefined {
  return JSON.stringify(value);
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `the string ${JSON.stringify(value.slice(0, SHOWN_CHARACTERS + 1))}`;
    case 'function':
      return 'a function';
    case 'bigint':
      return `the bigint ${value.toString()}`;
    case 'object':
      if (value === null) return 'null';
      try {
        if (Array.isArray(value)) return `an array of ${String(value.length)}`;
        return toJson(value) ?? 'an object';
      } catch {
        return 'an object';
      }
    default:
      return String(value);
  }
}
