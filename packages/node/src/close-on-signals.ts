import type { Server } from 'node:http';
import { constants } from 'node:os';
import { BackpressureError, type CloseReport, type Intake } from '@webhook-backpressure/core';

/** Options of {@link closeOnSignals}. */
export interface CloseOnSignalsOptions {
  /**
   * Closed after the intake, so that until then it still answers new deliveries with 503 and Retry-After. What the
   * intake does not count, such as a GET, may go on for the rest of the timeout, and for two seconds at least.
   */
  server?: Pick<Server, 'close' | 'closeIdleConnections' | 'closeAllConnections'> | undefined;
  /** Default SIGTERM and SIGINT. */
  signals?: readonly NodeJS.Signals[] | undefined;
  /** For how long what waits is still worked off, in milliseconds. From 0 to 86,400,000, default 10,000. */
  timeoutMs?: number | undefined;
  /** Called when the intake is closed, before the process ends. */
  onClosed?: ((report: CloseReport) => void) | undefined;
}

const NAMES = new Set(['server', 'signals', 'timeoutMs', 'onClosed']);
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 86_400_000;
/** For refusals on their way, and for requests that were skipped and came late. */
const LEAST_GRACE_MS = 2000;
const SWEEP_MS = 50;
/** The number of the process that a container starts with. */
const FIRST_PROCESS = 1;

/**
 * Shuts down in order when the process is told to end: the intake works off what waits, then the server closes,
 * then the process ends by the same signal; as the first process of a container, which no signal ends, it exits with
 * 128 and the number of the signal, and so it does where others listen to that signal too. An inbox is closed in the same way. A second signal ends it at once.
 *
 * @returns takes the handlers away again.
 * @throws BackpressureError `ERR_WBP_CLOSE` when `signals` is empty or `timeoutMs` is out of range, and
 * `ERR_WBP_UNKNOWN_OPTION`.
 */
export function closeOnSignals(
  intake: Pick<Intake, 'close'>,
  options: CloseOnSignalsOptions = {},
): () => void {
  const unknown = Object.keys(options).find((name) => !NAMES.has(name));
  if (unknown !== undefined) {
    throw new BackpressureError(
      'ERR_WBP_UNKNOWN_OPTION',
      `closeOnSignals has no option ${JSON.stringify(unknown)}.`,
    );
  }
  const { server, signals = ['SIGTERM', 'SIGINT'], timeoutMs = DEFAULT_TIMEOUT_MS, onClosed } = options;
  if (signals.length === 0)
    throw new BackpressureError('ERR_WBP_CLOSE', 'signals must name at least one signal.');
  // Now, and not when the process is told to end.
  if (!(timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new BackpressureError(
      'ERR_WBP_CLOSE',
      `timeoutMs must be a number of milliseconds from 0 to 86400000, but is ${String(timeoutMs)}.`,
    );
  }

  const remove = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  let isClosing = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isClosing) {
      endBy(signal);
      return;
    }
    isClosing = true;
    // From here on the system ends the process, also when its event loop is blocked; but not the first process.
    if (process.pid !== FIRST_PROCESS) remove();
    const endsAtMs = performance.now() + timeoutMs;
    void intake.close({ timeoutMs }).then((report) => {
      tell(onClosed, report);
      const end = (): void => {
        endBy(signal);
      };
      if (server === undefined) end();
      else closeServer(server, Math.max(LEAST_GRACE_MS, endsAtMs - performance.now()), end);
    });
  };
  for (const signal of signals) process.on(signal, onSignal);
  return remove;
}

/**
 * The system drops a signal for the first process of a container unless that handles it, and another listener would
 * take the signal for a second one, and keep the process alive.
 */
function endBy(signal: NodeJS.Signals): void {
  if (process.pid === FIRST_PROCESS || process.listenerCount(signal) > 0) {
    process.exit(128 + constants.signals[signal]);
  }
  process.kill(process.pid, signal);
}

/** What the user's own report throws must not keep the server from closing. */
function tell(onClosed: CloseOnSignalsOptions['onClosed'], report: CloseReport): void {
  try {
    onClosed?.(report);
  } catch (error) {
    process.emitWarning(`onClosed failed: ${String(error)}`, {
      type: 'WebhookBackpressureWarning',
      code: 'WBP_ON_CLOSED_FAILED',
    });
  }
}

function closeServer(
  server: Exclude<CloseOnSignalsOptions['server'], undefined>,
  graceMs: number,
  onClosed: () => void,
): void {
  // A connection that was busy when the server closed is kept when it falls idle, and would hold up the end.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, SWEEP_MS);
  const cut = setTimeout(() => {
    server.closeAllConnections();
  }, graceMs);
  server.close(() => {
    clearInterval(sweep);
    clearTimeout(cut);
    onClosed();
  });
}
