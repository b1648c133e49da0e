import { checkClock, checkNames, type Clock, invalid, systemClock } from '@webhook-backpressure/base';
import type { Inbox } from '@webhook-backpressure/inbox';
import type { Intake } from '@webhook-backpressure/core';
import { observationOf } from '../observe.ts';
import type { ObservableOutbox } from '../outbox/sender.ts';
import { hasMethods, sourceKindOf } from './source-kind.ts';
import { EventLog, type EventLogger, type LogSettings } from './event-log.ts';

/** What logs are made of. */
export type EventSource = Intake | Inbox | ObservableOutbox;

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

const CODE = 'ERR_WBP_LOG_EVENTS';
const MAX_KEYS = 100;

/**
 * Logs what happens in an intake, an inbox or a sender: changes of its state, alarms and warnings immediately; refusals, withdrawn
 * deliveries and failed attempts as a sum, at most once a second. Lines contain no ids, no headers, no bodies and no
 * messages of errors, only the first keys by count.
 *
 * A logger that throws or rejects affects no delivery.
 *
 * @param source - an intake, an inbox or a sender.
 * @param logger - called with the fields and a message, as pino is; the global `console` with the message first.
 * @returns a function that logs the remaining sums and ends the logging.
 * @throws BackpressureError `ERR_WBP_LOG_EVENTS` if the source, the logger or an option is invalid.
 *
 * @example
 * ```ts
 * logEvents(middleware.intake, pino())
 * ```
 */
export function logEvents(
  source: EventSource,
  logger: EventLogger,
  options: LogEventsOptions = {},
): () => void {
  const log = new EventLog(settingsOf(source, logger, options));
  const unsubscribe = source.subscribe((event) => {
    log.add(event);
  });
  // Later, since it can report an alarm.
  observationOf(source);
  return () => {
    unsubscribe();
    log.flush();
  };
}

function settingsOf(source: EventSource, logger: EventLogger, options: LogEventsOptions): LogSettings {
  const kind = kindOf(source);
  if (!hasMethods(logger, 'info', 'warn', 'error')) {
    const rule = 'an object with the methods info, warn and error, such as a pino logger or console';
    throw invalid(CODE, 'logger', rule, logger);
  }
  checkNames(options, 'options', ['name', 'messageFirst', 'keys', 'errors', 'clock']);
  const { console } = globalThis as { readonly console?: unknown };
  const { name, messageFirst = logger === console, keys = 5, errors = false, clock = systemClock } = options;
  if (name !== undefined && (typeof (name as unknown) !== 'string' || name === '')) {
    throw invalid(CODE, 'name', 'a string of at least one character', name);
  }
  for (const [option, value] of Object.entries({ messageFirst, errors })) {
    if (typeof (value as unknown) !== 'boolean') throw invalid(CODE, option, 'a boolean', value);
  }
  if (!Number.isInteger(keys) || keys < 0 || keys > MAX_KEYS) {
    throw invalid(CODE, 'keys', `an integer from 0 to ${String(MAX_KEYS)}`, keys);
  }
  checkClock(clock);
  const { dryRun: isDryRun = false } = source as { readonly dryRun?: boolean };
  return { logger, kind, isDryRun, name, isMessageFirst: messageFirst, keys, hasErrors: errors, clock };
}

function kindOf(source: unknown): LogSettings['kind'] {
  const kind = sourceKindOf(source);
  if (kind !== undefined) return kind;
  const rule = 'an intake, such as the .intake of a middleware, an inbox or a sender';
  throw invalid(CODE, 'source', rule, source);
}
