import type { Server } from 'node:http';
import { BackpressureError, type CloseReport, type Intake } from '@webhook-backpressure/core';

/** Options of {@link closeOnSignals}. */
export interface CloseOnSignalsOptions {
  /** Closed after the intake, so that until then it still answers new deliveries with 503 and Retry-After. */
  server?: Pick<Server, 'close' | 'closeAllConnections'> | undefined;
  /** Default SIGTERM and SIGINT. */
  signals?: readonly NodeJS.Signals[] | undefined;
  /** For how long what waits is still worked off, in milliseconds. Default as with `intake.close`: 10,000. */
  timeoutMs?: number | undefined;
  /** Called when the intake is closed, before the process ends. */
  onClosed?: ((report: CloseReport) => void) | undefined;
}

/**
 * Shuts down in order when the process is told to end: the intake works off what waits, then the server closes,
 * then the process ends by the same signal. A second signal ends it at once.
 *
 * @returns takes the handlers away again.
 * @throws BackpressureError `ERR_WBP_CLOSE` when `signals` is empty.
 */
export function closeOnSignals(intake: Intake, options: CloseOnSignalsOptions = {}): () => void {
  const { server, signals = ['SIGTERM', 'SIGINT'], timeoutMs, onClosed } = options;
  if (signals.length === 0)
    throw new BackpressureError('ERR_WBP_CLOSE', 'signals must name at least one signal.');

  const remove = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    remove();
    void intake.close({ timeoutMs }).then((report) => {
      onClosed?.(report);
      const end = (): void => {
        process.kill(process.pid, signal);
      };
      if (server === undefined) {
        end();
        return;
      }
      server.close(end);
      // What is open now is idle, or has outlived the timeout.
      server.closeAllConnections();
    });
  };
  for (const signal of signals) process.on(signal, onSignal);
  return remove;
}
