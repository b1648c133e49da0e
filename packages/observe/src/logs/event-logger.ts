import { checkClock, checkNames, type Clock, invalid, systemClock } from '@webhook-backpressure/base';

/** How severe a line is: the name of the method that logs it. */
export type LogLevel = 'info' | 'warn' | 'error';

/** The data of a line: plain values that every logger can write as JSON. `event` is the type of the event. */
export type LogFields = Readonly<Record<string, unknown>> & { readonly event: string };

/** The part of a logger that `logEvents` uses. pino, bunyan, winston and `console` have it. */
export interface EventLogger {
  /** Logs what an operator may want to look up. */
  info(first: LogFields | string, second: LogFields | string): unknown;
  /** Logs what may need a change. */
  warn(first: LogFields | string, second: LogFields | string): unknown;
  /** Logs what needs attention now. */
  error(first: LogFields | string, second: LogFields | string): unknown;
}

/** The options of `logEvents`. */
export interface LogEventsOptions {
  /** Distinguishes several sources: the field `intake`, `inbox` or `sender` of each line. Default: no such field. */
  name?: string | undefined;
  /**
   * The order of the arguments: the message and then the fields, as `console` and winston take them, or the fields and
   * then the message, as pino and bunyan do. Default: true for the global `console`, otherwise false.
   */
  messageFirst?: boolean | undefined;
  /** How many keys, or endpoints of a sender, each sum names, an integer from 0 to 100; the others are added up. Default: 5. */
  keys?: number | undefined;
  /**
   * Whether lines contain the messages of errors: of a sum the first three different ones, in their first 300 characters.
   * They may contain secrets and data of senders. Default: false.
   */
  errors?: boolean | undefined;
  /** The clock of the sums. Default: that of the runtime, with a timer that does not keep the process alive. */
  clock?: Clock | undefined;
}

/** The options, complete. */
export interface LogSettings {
  readonly name: string | undefined;
  readonly isMessageFirst: boolean;
  readonly keys: number;
  readonly hasErrors: boolean;
  readonly clock: Clock;
}

const METHODS = ['info', 'warn', 'error'] as const;
const MOST_KEYS = 100;

/** @throws BackpressureError `ERR_WBP_LOG_EVENTS` if something cannot log. */
export function checkLogger(logger: unknown): void {
  const methods = logger as Partial<Record<LogLevel, unknown>> | null | undefined;
  if (METHODS.every((name) => typeof methods?.[name] === 'function')) return;
  const rule = 'an object with the methods info, warn and error, such as a pino logger or console';
  throw invalid('ERR_WBP_LOG_EVENTS', 'logger', rule, logger);
}

/** @throws BackpressureError with the code of the first invalid option. */
export function resolveLogOptions(options: LogEventsOptions, logger: EventLogger): LogSettings {
  checkNames(options, 'options', ['name', 'messageFirst', 'keys', 'errors', 'clock']);
  const { console } = globalThis as { readonly console?: unknown };
  const { name, messageFirst = logger === console, keys = 5, errors = false, clock = systemClock } = options;
  if (name !== undefined && (typeof (name as unknown) !== 'string' || name === '')) {
    throw invalid('ERR_WBP_LOG_EVENTS', 'name', 'a string of at least one character', name);
  }
  for (const [option, value] of Object.entries({ messageFirst, errors })) {
    if (typeof (value as unknown) !== 'boolean')
      throw invalid('ERR_WBP_LOG_EVENTS', option, 'a boolean', value);
  }
  if (!Number.isInteger(keys) || keys < 0 || keys > MOST_KEYS) {
    throw invalid('ERR_WBP_LOG_EVENTS', 'keys', `an integer from 0 to ${String(MOST_KEYS)}`, keys);
  }
  checkClock(clock);
  return { name, isMessageFirst: messageFirst, keys, hasErrors: errors, clock };
}
