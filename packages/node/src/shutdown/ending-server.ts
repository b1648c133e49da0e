import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';

/** How often connections that became idle after the server closed are closed. */
const SWEEP_MS = 50;
/** The events of an HTTP/1 server, one of which is emitted for each request. */
const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'];
/** For HTTP/2: all streams so far are accepted, but no more should follow (RFC 9113, section 6.8). */
const NO_ERROR = 0;
const ANY_STREAM = 2 ** 31 - 1;

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
