import { isThenable, show } from './shown-values.ts';

/** Undefined where modules are not files, and in CommonJS made by some bundlers. */
const moduleUrl = (import.meta as { readonly url?: string }).url ?? '';
const docsParent = docsParentOf(moduleUrl);

/**
 * The folder that holds docs/errors.md: `dist` of the installed package, or the repository. Any other module is code that
 * a bundler has moved, also into a folder `packages/base/dist` of the user: it gets the place where npm installs the page.
 */
export function docsParentOf(url: string): string {
  const [parent = 'node_modules/@webhook-backpressure/base/dist/'] =
    /^file:.*\/@webhook-backpressure\/base\/dist\/|^file:.*\/(?=packages\/base\/src\/errors\.ts$)/.exec(
      url,
    ) ?? [];
  return parent;
}

/** The stable codes of {@link BackpressureError}, each a heading of docs/errors.md. A code never changes its meaning. */
export type BackpressureErrorCode =
  | 'ERR_WBP_OPTIONS'
  | 'ERR_WBP_UNKNOWN_OPTION'
  | 'ERR_WBP_CAPACITY'
  | 'ERR_WBP_WATER_MARKS'
  | 'ERR_WBP_CONCURRENCY'
  | 'ERR_WBP_MAX_CONCURRENCY_PER_KEY'
  | 'ERR_WBP_MAX_STARTS_PER_SECOND'
  | 'ERR_WBP_MAX_WAIT'
  | 'ERR_WBP_MAX_HANDLING'
  | 'ERR_WBP_OVERFLOW'
  | 'ERR_WBP_STATUS_CODE'
  | 'ERR_WBP_RETRY_AFTER'
  | 'ERR_WBP_SHED'
  | 'ERR_WBP_ALARMS'
  | 'ERR_WBP_DRY_RUN'
  | 'ERR_WBP_PRESSURE'
  | 'ERR_WBP_CLOCK'
  | 'ERR_WBP_RANDOM'
  | 'ERR_WBP_NOT_TUNABLE'
  | 'ERR_WBP_DELIVERY'
  | 'ERR_WBP_HISTORY'
  | 'ERR_WBP_CLOSE'
  | 'ERR_WBP_READINESS'
  | 'ERR_WBP_LISTENER'
  | 'ERR_WBP_LOG_EVENTS'
  | 'ERR_WBP_NOTIFY'
  | 'ERR_WBP_OTEL'
  | 'ERR_WBP_INTAKE'
  | 'ERR_WBP_FLEET'
  | 'ERR_WBP_OBSERVE'
  | 'ERR_WBP_PATH'
  | 'ERR_WBP_CALLBACK'
  | 'ERR_WBP_HEADERS'
  | 'ERR_WBP_BODY_TIMEOUT'
  | 'ERR_WBP_SENDERS'
  | 'ERR_WBP_ORIGINS'
  | 'ERR_WBP_SIZE_QUEUE'
  | 'ERR_WBP_FIRE'
  | 'ERR_WBP_METRICS_SOURCE'
  | 'ERR_WBP_METRICS_KEYS'
  | 'ERR_WBP_METRICS_NAME'
  | 'ERR_WBP_METRICS_REGISTER'
  | 'ERR_WBP_STORE'
  | 'ERR_WBP_STORE_VALUE'
  | 'ERR_WBP_PROCESS'
  | 'ERR_WBP_ROLE'
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
  | 'ERR_WBP_TTL'
  | 'ERR_WBP_ON'
  | 'ERR_WBP_LIMITS'
  | 'ERR_WBP_PAUSE'
  | 'ERR_WBP_TRANSACTION'
  | 'ERR_WBP_CLAIM_LOST'
  | 'ERR_WBP_ADD'
  | 'ERR_WBP_ADD_FULL'
  | 'ERR_WBP_ADD_STORE'
  | 'ERR_WBP_SUCCESS_STATUS'
  | 'ERR_WBP_MAX_BODY'
  | 'ERR_WBP_MAX_BYTES'
  | 'ERR_WBP_RETENTION'
  | 'ERR_WBP_MAX_DEAD_LETTERS'
  | 'ERR_WBP_KEEP_COMPLETED'
  | 'ERR_WBP_BODY_READ'
  | 'ERR_WBP_MOUNT'
  | 'ERR_WBP_REQUEST'
  | 'ERR_WBP_DEAD_LETTERS'
  | 'ERR_WBP_SQLITE_PATH'
  | 'ERR_WBP_SQLITE_BUSY_TIMEOUT'
  | 'ERR_WBP_SQLITE_MAX_FILE'
  | 'ERR_WBP_SQLITE_MAX_WAL'
  | 'ERR_WBP_SQLITE_DRIVER'
  | 'ERR_WBP_SQLITE_THREAD'
  | 'ERR_WBP_SQLITE_APPLICATION_FILE'
  | 'ERR_WBP_SQLITE_THREAD_ENDED'
  | 'ERR_WBP_SQLITE_NOT_OPEN'
  | 'ERR_WBP_SQLITE_OPEN'
  | 'ERR_WBP_SQLITE_FOREIGN'
  | 'ERR_WBP_SQLITE_VERSION'
  | 'ERR_WBP_SQLITE_DAMAGED'
  | 'ERR_WBP_SQLITE_LOCKED'
  | 'ERR_WBP_SQLITE_REPLACED'
  | 'ERR_WBP_SQLITE_WRITE'
  | 'ERR_WBP_POSTGRES_CONNECTION'
  | 'ERR_WBP_POSTGRES_SCHEMA'
  | 'ERR_WBP_POSTGRES_POOLED'
  | 'ERR_WBP_POSTGRES_NOT_OPEN'
  | 'ERR_WBP_POSTGRES_SETUP'
  | 'ERR_WBP_POSTGRES_FOREIGN'
  | 'ERR_WBP_POSTGRES_VERSION'
  | 'ERR_WBP_POSTGRES_UNAVAILABLE'
  | 'ERR_WBP_ENDPOINT'
  | 'ERR_WBP_ENDPOINT_URL'
  | 'ERR_WBP_ENDPOINT_SECRET'
  | 'ERR_WBP_RATE'
  | 'ERR_WBP_TOKENS'
  | 'ERR_WBP_IN_FLIGHT'
  | 'ERR_WBP_BATCH'
  | 'ERR_WBP_BUCKETS'
  | 'ERR_WBP_API_LIMITS'
  | 'ERR_WBP_RECONCILE'
  | 'ERR_WBP_RECONCILE_SOURCE'
  | 'ERR_WBP_RECONCILE_API'
  | 'ERR_WBP_TIMEOUT'
  | 'ERR_WBP_DISABLE_AFTER'
  | 'ERR_WBP_PRIVATE_ADDRESSES'
  | 'ERR_WBP_FETCH'
  | 'ERR_WBP_WHEN_FULL'
  | 'ERR_WBP_EVENT'
  | 'ERR_WBP_EVENT_SIZE'
  | 'ERR_WBP_SEND_FULL'
  | 'ERR_WBP_SENDER_STORE'
  | 'ERR_WBP_SENDER_CLOSED'
  | 'ERR_WBP_REDIS'
  | 'ERR_WBP_BULLMQ_QUEUE'
  | 'ERR_WBP_BULLMQ_JOB_NAME'
  | 'ERR_WBP_BULLMQ_LIMITS'
  | 'ERR_WBP_BULLMQ_RETENTION'
  | 'ERR_WBP_BULLMQ_ENCRYPT'
  | 'ERR_WBP_BULLMQ_UNAVAILABLE'
  | 'ERR_WBP_BULLMQ_JOB_DATA'
  | 'ERR_WBP_DASHBOARD_AUTHORIZE'
  | 'ERR_WBP_DASHBOARD_SOURCES'
  | 'ERR_WBP_DASHBOARD_ALLOW_UPDATE';

const NAME = 'BackpressureError';

/** V8's functions for stacks, which other engines may lack. */
interface Stacks {
  stackTraceLimit?: number;
  captureStackTrace?: (of: object, above: unknown) => void;
}

/** What the calls of this library take of a stack at most, from an option of an option to the user's call. */
const OWN_FRAMES = 30;
/** A file of our packages as npm, pnpm, Yarn and Deno install them, the last with the version in between. */
const INSTALLED = /[\\/]@webhook-backpressure[\\/][\w-]+[\\/](?:[\d.]+[^\\/]*[\\/])?(?:dist|src)[\\/]/;
/** A call of a built-in function, such as `map`, or of the runtime. */
const BUILT_IN = /\((?:<anonymous>|native|unknown)|(?:\(|at |async )(?:node|ext|bun|internal):/;

/** The packages in their repository. */
const [, repository] =
  /^file:\/\/(.*\/packages\/)base\/(?:src\/errors\.ts|dist\/index\.js)$/.exec(moduleUrl) ?? [];
/** A file of a package there. */
const OWN_FILE = /^[a-z]+\/(?:dist|src)\//;

/**
 * The frames of a stack from the first one outside of this library on: the line of the user that has the mistake. All
 * frames if there is none, as in the modules of a bundler.
 */
export function framesOfCaller(
  frames: readonly string[],
  packages: string | undefined = repository,
): readonly string[] {
  const isOwn = (frame: string): boolean =>
    INSTALLED.test(frame) || (packages !== undefined && OWN_FILE.test(frame.split(packages)[1] ?? ''));
  const first = frames.findIndex((frame) => !isOwn(frame) && !BUILT_IN.test(frame));
  return first === -1 ? frames : frames.slice(first);
}

/** Lets the stack begin at the line of the user. Never throws: a program may have replaced or frozen all of it. */
function startAtCaller(error: Error, above: unknown): void {
  try {
    const stacks = Error as unknown as Stacks;
    const { stackTraceLimit: limit, captureStackTrace } = stacks;
    if (limit === undefined || limit === 0 || captureStackTrace === undefined) return;
    // The calls of this library alone may be more than the limit, which is ten.
    stacks.stackTraceLimit = limit + OWN_FRAMES;
    const captured: { stack?: unknown } = {};
    try {
      captureStackTrace(captured, above);
    } finally {
      stacks.stackTraceLimit = limit;
    }
    if (typeof captured.stack !== 'string') return;
    const [, ...frames] = captured.stack.split('\n');
    error.stack = [`${NAME}: ${error.message}`, ...framesOfCaller(frames).slice(0, limit)].join('\n');
  } catch {
    // The stack stays as it is.
  }
}

/**
 * The error that this library throws when it is used incorrectly or its store fails. The message names the option, the
 * rule and the value given, and ends with `code` and `help`. The stack begins at the first line outside of this library.
 */
export class BackpressureError extends Error {
  /**
   * Whether it is an error of this package, also of another copy: up to Node 22.11, `import` and `require` load one each.
   */
  static override [Symbol.hasInstance](value: unknown): value is BackpressureError {
    if (this !== BackpressureError) return Function.prototype[Symbol.hasInstance].call(this, value);
    try {
      return value instanceof Error && value.name === NAME && 'code' in value && 'help' in value;
    } catch {
      // A revoked proxy, or a getter that throws.
      return false;
    }
  }

  /** The stable code, to compare with instead of the message. */
  readonly code: BackpressureErrorCode;
  /** The address of the page that explains the code, in the installed core package: a `file:` URL with an anchor. */
  readonly help: string;

  /**
   * @param code - the stable code.
   * @param sentence - what is wrong. The message is this sentence, the code and the help address.
   * @param options - `cause`: the error that led to this one.
   */
  constructor(code: BackpressureErrorCode, sentence: string, options?: { cause?: unknown }) {
    const help = `${docsParent}docs/errors.md#${code.toLowerCase()}`;
    super(`${sentence} (${code}, see ${help})`, options);
    this.name = NAME;
    this.code = code;
    this.help = help;
    startAtCaller(this, new.target);
  }
}

/** The error for an `option` whose value breaks a `rule`, such as "a boolean". */
export function invalid(
  code: BackpressureErrorCode,
  option: string,
  rule: string,
  given: unknown,
): BackpressureError {
  return new BackpressureError(code, `${option} must be ${rule}, but was ${show(given)}.`);
}

/** The error for a callback whose result breaks a `rule`, such as "a string or undefined". */
export function invalidResult(
  code: BackpressureErrorCode,
  callback: string,
  rule: string,
  result: unknown,
): BackpressureError {
  // The promise is not awaited, and its rejection would end the process.
  if (isThenable(result)) Promise.resolve(result).catch(() => undefined);
  return new BackpressureError(code, `${callback}() must return ${rule}, but returned ${show(result)}.`);
}
