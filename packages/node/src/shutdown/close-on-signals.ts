import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { constants } from 'node:os';
import { inspect } from 'node:util';
import { BackpressureError, checkNames } from '@webhook-backpressure/base';
import { closablesOf, createReadiness } from '@webhook-backpressure/core/middleware';
import type { Closable, CloseReport } from '@webhook-backpressure/core';
import { EndingServer, processEnd } from './process-end.ts';

/** Options of {@link closeOnSignals}. */
export interface CloseOnSignalsOptions {
  /**
   * One or more servers of `node:http`, `node:https` or `node:http2`. They close after all intakes and inboxes, so that
   * new deliveries still get 503 with Retry-After until then. Requests that no intake counts, such as a GET, may continue
   * for the rest of the timeout, and for at least two seconds. Default none.
   */
  server?: Server | readonly Server[] | undefined;
  /** The signals to handle. Default SIGTERM and SIGINT. */
  signals?: readonly NodeJS.Signals[] | undefined;
  /**
   * How long deliveries are still accepted after the signal, in milliseconds. From 0 to 86,400,000. Default 5,000 if one
   * of the sources has a `readiness` probe, otherwise 0. Meanwhile probes get 503 and responses have `Connection: close`.
   * Set it even without a probe on platforms such as Kubernetes: routing takes some seconds to change. With several calls
   * the longest delay applies.
   */
  drainDelayMs?: number | undefined;
  /**
   * How long waiting deliveries are still handled after the drain delay, in milliseconds. From 0 to 86,400,000, default
   * 10,000.
   */
  timeoutMs?: number | undefined;
  /** Called for each intake and inbox after it has closed, before the process ends. */
  onClosed?: ((report: CloseReport, source: Closable) => void) | undefined;
}

const NAMES: readonly (keyof CloseOnSignalsOptions)[] = [
  'server',
  'signals',
  'drainDelayMs',
  'timeoutMs',
  'onClosed',
];
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_MS = 86_400_000;
const UNCATCHABLE = new Set(['SIGKILL', 'SIGSTOP']);

/**
 * Shuts down gracefully on a signal. For `drainDelayMs` readiness probes fail while deliveries are still accepted. Then
 * every intake and inbox closes: waiting deliveries are handled and new ones refused. Then the servers close, and the
 * process ends with the same signal; as PID 1, or if the signal has other listeners, it exits with 128 plus the signal's
 * number. A second signal ends it immediately.
 *
 * Several calls share one shutdown: the first signal that any of them names closes everything.
 *
 * @param sources - an intake, an inbox, or an array of them.
 * @returns a function that undoes this call, until a signal arrives.
 * @throws BackpressureError `ERR_WBP_CLOSE` when an argument is invalid, and `ERR_WBP_UNKNOWN_OPTION`.
 *
 * @example
 * ```ts
 * app.get('/ready', readiness([backpressure.intake, webhooks.inbox]))
 * closeOnSignals([backpressure.intake, webhooks.inbox], { server, timeoutMs: 20_000 })
 * ```
 */
export function closeOnSignals(
  sources: Closable | readonly Closable[],
  options: CloseOnSignalsOptions = {},
): () => void {
  // Checked now, not when the process is about to end.
  const closables = closablesOf(sources, 'ERR_WBP_CLOSE', 'closeOnSignals');
  checkNames(options, 'options', NAMES);
  const { server = [], signals = ['SIGTERM', 'SIGINT'], timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const { drainDelayMs, onClosed } = options;
  const servers = Array.isArray(server) ? (server as readonly Server[]) : [server as Server];
  for (const one of servers)
    if (!isServer(one))
      throw wrong('server', 'an HTTP server, such as app.listen() returns, or an array of them', one);
  if (!Array.isArray(signals) || signals.length === 0 || !signals.every(isSignal)) {
    throw wrong('signals', 'a non-empty array of signals that a process can handle', signals);
  }
  for (const [name, ms] of Object.entries({ timeoutMs, drainDelayMs: drainDelayMs ?? 0 })) {
    if (!(typeof ms === 'number' && ms >= 0 && ms <= MAX_MS)) {
      throw wrong(name, 'a number of milliseconds from 0 to 86,400,000', ms);
    }
  }
  if (onClosed !== undefined && typeof onClosed !== 'function')
    throw wrong('onClosed', 'a function', onClosed);

  return processEnd.add({
    sources: closables,
    servers: servers.map((one) => new EndingServer(one)),
    signals,
    drainDelayMs,
    timeoutMs,
    onClosed,
  });
}

function isServer(value: unknown): boolean {
  const { close, prependListener } = (value ?? {}) as Partial<Record<keyof Server, unknown>>;
  return typeof close === 'function' && typeof prependListener === 'function';
}

function isSignal(value: unknown): boolean {
  return typeof value === 'string' && Object.hasOwn(constants.signals, value) && !UNCATCHABLE.has(value);
}

function wrong(option: string, rule: string, given: unknown): BackpressureError {
  // `inspect` would print all methods of an Express app, passed instead of what its listen() returns.
  const shown =
    typeof given === 'function'
      ? 'a function'
      : inspect(given, { depth: 0, breakLength: Infinity, maxStringLength: 80, maxArrayLength: 3 });
  return new BackpressureError('ERR_WBP_CLOSE', `${option} must be ${rule}, but was ${shown}.`);
}

/**
 * Creates a request listener for the readiness probe of a load balancer. It responds with 200 while deliveries are
 * accepted, also while shedding or stalled, and with 503 once `closeOnSignals` is draining or a source is closing. The
 * body is `{"status":"ready"}`, `"draining"` or `"closing"`. With a probe, `closeOnSignals` drains for 5 s by default.
 *
 * @param sources - an intake, an inbox, or an array of them. Ready when all of them are.
 * @throws BackpressureError `ERR_WBP_READINESS` for anything else, and for an empty array.
 *
 * @example
 * ```ts
 * app.get('/ready', readiness(backpressure.intake))
 * closeOnSignals(backpressure.intake, { server })
 * ```
 */
export function readiness(
  sources: Closable | readonly Closable[],
): (req: IncomingMessage, res: ServerResponse) => void {
  const probe = createReadiness(sources);
  return (_req, res) => {
    const { status, headers, body } = probe.answer();
    res.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
}
