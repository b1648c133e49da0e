import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';
import { constants } from 'node:os';
import { beginDraining, isProbed } from '@webhook-backpressure/core/middleware';
import { inBackground, thrownText } from '@webhook-backpressure/base';
import type { Closable, CloseReport } from '@webhook-backpressure/core';

/** A probe that runs every two seconds fails at least twice. */
const PROBED_DRAIN_MS = 5000;
/** For refusals that are still being sent, and late requests that the middleware skips. */
const MIN_GRACE_MS = 2000;
/** The PID of the process that starts a container. */
const FIRST_PROCESS = 1;
/** How often connections that became idle after the server closed are closed. */
const SWEEP_MS = 50;
/** The events of an HTTP/1 server, one of which is emitted for each request. */
const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'];
/** For HTTP/2: all streams so far are accepted, but no more should follow (RFC 9113, section 6.8). */
const NO_ERROR = 0;
const ANY_STREAM = 2 ** 31 - 1;

/** The arguments of one call of `closeOnSignals`. */
export interface Closing {
  readonly sources: readonly Closable[];
  readonly servers: readonly EndingServer[];
  readonly signals: readonly NodeJS.Signals[];
  readonly drainDelayMs: number | undefined;
  readonly timeoutMs: number;
  readonly onClosed: ((report: CloseReport, source: Closable) => unknown) | undefined;
}

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
    inBackground(this.#end(signal));
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
    const graceMs = Math.max(MIN_GRACE_MS, endsAtMs - performance.now());
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

/** The connection methods that HTTP/1 servers have and HTTP/2 servers lack. */
interface Connections {
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
}

/** Ends a server in two steps: it makes its clients reconnect elsewhere, then it closes. */
export class EndingServer {
  readonly #server: Server & Connections;
  /** The sessions of an HTTP/2 server, which keeps no list. */
  readonly #sessions = new Set<Http2Session>();
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    if (this.#server.closeAllConnections !== undefined) return;
    server.on('connection', this.#addSocket);
    server.on('session', this.#addSession);
  }

  /** Stops tracking the server, which will not be ended. */
  release(): void {
    this.#server.off('connection', this.#addSocket);
    this.#server.off('session', this.#addSession);
  }

  /**
   * Adds `Connection: close` to the response of each new request, and sends GOAWAY on HTTP/2 connections that are used.
   * No request is refused.
   */
  announce(): void {
    // Before all other listeners, which may respond immediately. Events without a listener get none: node handles
    // `checkContinue` itself only while it has no listener.
    for (const event of REQUEST_EVENTS) {
      if (this.#server.listenerCount(event) > 0) this.#server.prependListener(event, lastOfConnection);
    }
    for (const session of this.#sessions) sendGoaway(session);
    // A new client may first send the request that it connected for.
    this.#server.on('session', (session: Http2Session) => {
      session.once('stream', () => {
        sendGoaway(session);
      });
    });
  }

  /** Resolves when the server has closed. Connections still open after `graceMs` are destroyed. */
  async close(graceMs: number): Promise<void> {
    // A connection that was busy when the server closed stays open when it becomes idle, and would delay the end.
    const sweep = setInterval(() => {
      this.#server.closeIdleConnections?.();
    }, SWEEP_MS);
    const cut = setTimeout(() => {
      this.#server.closeAllConnections?.();
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await new Promise<void>((resolve) => {
      // An error means that it was already closed.
      this.#server.close(() => {
        resolve();
      });
      for (const session of this.#sessions) session.close();
    });
    clearInterval(sweep);
    clearTimeout(cut);
  }

  readonly #addSocket = (socket: Socket): void => {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  };

  readonly #addSession = (session: Http2Session): void => {
    this.#sessions.add(session);
    session.once('close', () => this.#sessions.delete(session));
  };
}

function lastOfConnection({ httpVersionMajor }: IncomingMessage, res: ServerResponse): void {
  if (httpVersionMajor === 1) res.shouldKeepAlive = false;
}

function sendGoaway(session: Http2Session): void {
  if (!session.destroyed && !session.closed) session.goaway(NO_ERROR, ANY_STREAM);
}
