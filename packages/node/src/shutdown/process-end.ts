import { constants } from 'node:os';
import { beginDraining, isProbed } from '@webhook-backpressure/core/middleware';
import { thrownText } from '@webhook-backpressure/base';
import type { Closable, CloseReport } from '@webhook-backpressure/core';
import type { EndingServer } from './ending-server.ts';

/** The arguments of one call of `closeOnSignals`. */
export interface Closing {
  readonly sources: readonly Closable[];
  readonly servers: readonly EndingServer[];
  readonly signals: readonly NodeJS.Signals[];
  readonly drainDelayMs: number | undefined;
  readonly timeoutMs: number;
  readonly onClosed: ((report: CloseReport, source: Closable) => unknown) | undefined;
}

/** A probe that runs every two seconds fails at least twice. */
const PROBED_DRAIN_MS = 5000;
/** For refusals that are still being sent, and late requests that the middleware skips. */
const LEAST_GRACE_MS = 2000;
/** The PID of the process that starts a container. */
const FIRST_PROCESS = 1;

/** The end of this process, shared by all calls of `closeOnSignals`: it ends once, when all sources have closed. */
class ProcessEnd {
  readonly #calls = new Set<Closing>();
  readonly #closing: Promise<void>[] = [];
  #signals: ReadonlySet<NodeJS.Signals> = new Set();
  #phase: 'running' | 'draining' | 'closing' = 'running';

  /** Returns a function that undoes the call, until a signal arrives. */
  add(call: Closing): () => void {
    this.#calls.add(call);
    // Called by a startup that was still in progress when the signal arrived.
    if (this.#phase === 'closing') this.#closing.push(closeSources(call));
    this.#listen();
    return () => {
      if (this.#phase !== 'running' || !this.#calls.delete(call)) return;
      for (const server of call.servers) server.release();
      this.#listen();
    };
  }

  /** Listens to the signals that any call names, and to no others. */
  #listen(): void {
    // Without a listener the system ends the process at a second signal, even if its event loop is blocked. PID 1 needs
    // the listener, because the system ignores unhandled signals to it.
    const isNeeded = this.#phase === 'running' || process.pid === FIRST_PROCESS;
    const named = new Set(isNeeded ? [...this.#calls].flatMap(({ signals }) => signals) : []);
    for (const signal of this.#signals) if (!named.has(signal)) process.off(signal, this.#onSignal);
    for (const signal of named) if (!this.#signals.has(signal)) process.on(signal, this.#onSignal);
    this.#signals = named;
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (this.#phase !== 'running') {
      endBy(signal);
      return;
    }
    this.#phase = 'draining';
    this.#listen();
    void this.#end(signal);
  };

  async #end(signal: NodeJS.Signals): Promise<void> {
    await this.#drain();
    this.#phase = 'closing';
    const closesAtMs = performance.now();
    for (const call of this.#calls) this.#closing.push(closeSources(call));
    // Includes sources added by calls in the meantime.
    for (const closing of this.#closing) await closing;
    const calls = [...this.#calls];
    const endsAtMs = closesAtMs + Math.max(...calls.map(({ timeoutMs }) => timeoutMs));
    const graceMs = Math.max(LEAST_GRACE_MS, endsAtMs - performance.now());
    // Not earlier: deliveries of another call may use the same server.
    await Promise.all(calls.flatMap(({ servers }) => servers).map((server) => server.close(graceMs)));
    endBy(signal);
  }

  /** Fails readiness probes and still accepts deliveries, until load balancers have noticed. */
  async #drain(): Promise<void> {
    const calls = [...this.#calls];
    const delayMs = Math.max(...calls.map(drainDelayOf));
    for (const { servers } of calls) for (const server of servers) server.announce();
    if (delayMs === 0) return;
    for (const { sources } of calls) sources.forEach(beginDraining);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

/** A process that imports and requires this package may load it twice, and still ends once. */
const PROCESS_END = Symbol.for('webhook-backpressure.process-end');
const shared = globalThis as Record<symbol, ProcessEnd | undefined>;

export const processEnd: ProcessEnd = (shared[PROCESS_END] ??= new ProcessEnd());

function drainDelayOf({ drainDelayMs, sources }: Closing): number {
  return drainDelayMs ?? (sources.some(isProbed) ? PROBED_DRAIN_MS : 0);
}

/** Never rejects: one failure must not keep the other sources and the servers from closing. */
async function closeSources({ sources, timeoutMs, onClosed }: Closing): Promise<void> {
  const close = async (source: Closable): Promise<void> => {
    const report = await source.close({ timeoutMs });
    callOnClosed(onClosed, report, source);
  };
  await Promise.all(
    sources.map((source) =>
      close(source).catch((error: unknown) => {
        warn('WBP_CLOSE_FAILED', 'close() failed', error);
      }),
    ),
  );
}

function callOnClosed(onClosed: Closing['onClosed'], report: CloseReport, source: Closable): void {
  const failed = (error: unknown): void => {
    warn('WBP_ON_CLOSED_FAILED', 'onClosed() failed', error);
  };
  try {
    const result = onClosed?.(report, source);
    if (result instanceof Promise) result.catch(failed);
  } catch (error) {
    failed(error);
  }
}

function warn(code: string, what: string, error: unknown): void {
  process.emitWarning(`${what}: ${thrownText(error)}`, { type: 'WebhookBackpressureWarning', code });
}

/**
 * Ends the process with the signal, or with the equivalent exit code: the system ignores unhandled signals to PID 1, and
 * another listener would handle the signal again and keep the process alive.
 */
function endBy(signal: NodeJS.Signals): void {
  if (process.pid === FIRST_PROCESS || process.listenerCount(signal) > 0) {
    process.exit(128 + constants.signals[signal]);
  }
  process.kill(process.pid, signal);
}
