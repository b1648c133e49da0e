import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';

/** How often connections that fell idle after the server closed are looked for. */
const SWEEP_MS = 50;
/** The events by which servers of HTTP/1 pass on a request, one of them for each request. */
const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'];
/** Of HTTP/2: no stream is too late yet, but no new one should come (RFC 9113, section 6.8). */
const NO_ERROR = 0;
const ANY_STREAM = 2 ** 31 - 1;

/** What servers of HTTP/1 can do with their connections, and servers of HTTP/2 cannot. */
interface Connections {
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
}

/** The end of one server, in two steps: its clients learn that they should go elsewhere, then it closes. */
export class EndingServer {
  readonly #server: Server & Connections;
  /** Of a server of HTTP/2, which keeps no list itself. */
  readonly #sessions = new Set<Http2Session>();
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    if (this.#server.closeAllConnections !== undefined) return;
    server.on('connection', this.#addSocket);
    server.on('session', this.#addSession);
  }

  /** Forgets the server, which nobody is going to end. */
  release(): void {
    this.#server.off('connection', this.#addSocket);
    this.#server.off('session', this.#addSession);
  }

  /**
   * From now on each answer to a new request carries `Connection: close`, and each connection of HTTP/2 that is used
   * learns that it should begin no more requests. Nothing is refused.
   */
  announce(): void {
    // In front of all listeners, since they may answer immediately. An event without a listener stays without: node
    // answers `checkContinue` itself as long as nobody listens to it.
    for (const event of REQUEST_EVENTS) {
      if (this.#server.listenerCount(event) > 0) this.#server.prependListener(event, lastOfConnection);
    }
    for (const session of this.#sessions) tellToLeave(session);
    // A new client first sends what it has come with.
    this.#server.on('session', (session: Http2Session) => {
      session.once('stream', () => {
        tellToLeave(session);
      });
    });
  }

  /** Resolves when the server has closed. What is still open after `graceMs` is cut off. */
  async close(graceMs: number): Promise<void> {
    // A connection that was busy when the server closed is kept when it falls idle, and would hold up the end.
    const sweep = setInterval(() => {
      this.#server.closeIdleConnections?.();
    }, SWEEP_MS);
    const cut = setTimeout(() => {
      this.#server.closeAllConnections?.();
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await new Promise<void>((resolve) => {
      // An error says that it was closed before.
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

function tellToLeave(session: Http2Session): void {
  if (!session.destroyed && !session.closed) session.goaway(NO_ERROR, ANY_STREAM);
}
