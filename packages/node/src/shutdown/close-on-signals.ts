import type { Server } from 'node:net';
import { constants } from 'node:os';
import { inspect } from 'node:util';
import {
  BackpressureError,
  checkNames,
  closablesOf,
  type Closable,
  type CloseReport,
} from '@webhook-backpressure/core';
import { EndingServer } from './ending-server.ts';
import { processEnd } from './process-end.ts';

/** Options of {@link closeOnSignals}. */
export interface CloseOnSignalsOptions {
  /**
   * One server, or an array of them, of `node:http`, `node:https` or `node:http2`. Closed after all intakes and
   * inboxes, so that until then they still answer new deliveries with 503 and Retry-After. What no intake counts, such
   * as a GET, may go on for the rest of the timeout, and for two seconds at least. Default none.
   */
  server?: Server | readonly Server[] | undefined;
  /** Default SIGTERM and SIGINT. */
  signals?: readonly NodeJS.Signals[] | undefined;
  /**
   * For how long deliveries are still accepted after the signal, while readiness probes answer 503 and answers carry
   * `Connection: close`, in milliseconds. From 0 to 86,400,000. Default 5,000 when one of the sources has a `readiness`
   * probe, else 0. Set it also where the platform stops routing without a probe, as Kubernetes does: a load balancer
   * needs some seconds to notice. The longest of all calls counts.
   */
  drainDelayMs?: number | undefined;
  /**
   * After that, for how long waiting deliveries are still handled, in milliseconds. From 0 to 86,400,000, default
   * 10,000.
   */
  timeoutMs?: number | undefined;
  /** Called for each intake and inbox when it has closed, before the process ends. */
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
 * Shuts down in order when a signal comes: for `drainDelayMs` readiness probes fail while deliveries are still
 * accepted; then every intake and inbox closes, which handles waiting deliveries and refuses new ones; then the servers
 * close; then the process ends by the same signal. As PID 1, and where others listen to that signal too, it exits with
 * 128 plus the number of the signal. A second signal ends it immediately.
 *
 * Several calls in one process share its end: at the first signal that any of them names everything closes, and the
 * process ends once.
 *
 * @param sources - an intake, an inbox, or an array of any number of them.
 * @returns takes this call back, as long as no signal has come.
 * @throws BackpressureError `ERR_WBP_CLOSE` when a source, a server, a signal or a time is none, and
 * `ERR_WBP_UNKNOWN_OPTION`.
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
  // All of it now, and not when the process is about to end.
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
  const shown = inspect(given, { depth: 0, breakLength: Infinity, maxStringLength: 80, maxArrayLength: 3 });
  return new BackpressureError('ERR_WBP_CLOSE', `${option} must be ${rule}, but was ${shown}.`);
}
