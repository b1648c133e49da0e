import { checkLogger, resolveLogOptions, type EventLogger, type LogEventsOptions } from './event-logger.ts';
import { EventLog } from './event-log.ts';
import { observationOf } from '../observe.ts';
import { kindOf, type EventSource } from './event-source.ts';

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
  const kind = kindOf(source);
  checkLogger(logger);
  const { dryRun = false } = source as { readonly dryRun?: boolean };
  const log = new EventLog(logger, kind, dryRun, resolveLogOptions(options, logger));
  const unsubscribe = source.subscribe((event) => {
    log.add(event);
  });
  // Later, since it can report an alarm. An inbox and a sender judge their alarms by themselves.
  observationOf(source);
  return () => {
    unsubscribe();
    log.flush();
  };
}
