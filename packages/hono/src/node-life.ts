import type { Admission, Permit, Refusal, RequestHeaders } from '@webhook-backpressure/core';
import type { Life } from './life.ts';

/** The parts of node's connection, request and response that are needed here; this package does not depend on node. */
interface Connection {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}
interface Outgoing {
  readonly statusCode: number;
  readonly writableFinished: boolean;
  /** Set where a source that failed has ended the response before its time. */
  readonly errored?: Error | null;
  /** Null while the response stands in line behind another one of its connection. */
  readonly socket: Connection | null;
  on(event: 'close', listener: () => void): unknown;
}
interface Bindings {
  readonly incoming: { readonly socket: Connection; readonly headers: RequestHeaders };
  readonly outgoing: Outgoing;
}

/**
 * The life of a request on `@hono/node-server`, which is that of node's response and costs one listener; undefined
 * anywhere else.
 */
export function nodeLife(env: unknown): Life | undefined {
  const bindings = nodeBindings(env);
  return bindings === undefined ? undefined : new NodeLife(bindings.incoming.socket, bindings.outgoing);
}

/** The headers as node has read them: to ask the web-standard request for them would build it. */
export function nodeHeaders(env: unknown): RequestHeaders | undefined {
  return nodeRequest(env)?.headers;
}

/** The request as node knows it, which is the same for what is mounted in front of Hono. */
export function nodeRequest(env: unknown): Bindings['incoming'] | undefined {
  return nodeBindings(env)?.incoming;
}

/** Elsewhere than on node the names may stand for anything: a queue that is called `incoming`, on Workers. */
function nodeBindings(env: unknown): Bindings | undefined {
  const given = (env ?? {}) as Partial<Bindings>;
  return typeof given.incoming?.socket === 'object' && typeof given.outgoing?.on === 'function'
    ? (given as Bindings)
    : undefined;
}

/** On each connection, the lives whose responses stand in line behind another one. */
const inLine = new WeakMap<Connection, Set<NodeLife>>();

class NodeLife implements Life {
  readonly #connection: Connection;
  readonly #outgoing: Outgoing;
  #place: Admission | undefined;
  #permit: Permit | undefined;
  #hasEnded = false;

  constructor(connection: Connection, outgoing: Outgoing) {
    this.#connection = connection;
    this.#outgoing = outgoing;
  }

  isOver(): boolean {
    return this.#hasEnded || this.#connection.destroyed;
  }

  follow(place: Admission): void {
    this.#place = place;
    // It comes once, so nothing is won by `once`, which costs two more objects.
    this.#outgoing.on('close', () => {
      this.end();
    });
    // A response that stands in line is not told when its connection closes.
    if (this.#outgoing.socket === null) this.#joinLine();
  }

  wait(turn: Promise<Permit | Refusal>): Promise<Permit | Refusal> {
    return turn;
  }

  begin(permit: Permit): boolean {
    this.#permit = permit;
    if (this.isOver()) permit.release('failure');
    return !this.isOver();
  }

  fail(): void {
    this.#permit?.release('failure');
  }

  hold(): void {
    // Until the response is over, which is known without looking at its body.
  }

  end(): void {
    this.#hasEnded = true;
    inLine.get(this.#connection)?.delete(this);
    if (this.#permit === undefined) this.#place?.leave();
    else this.#permit.release(isFailure(this.#outgoing, this.#connection) ? 'failure' : 'success');
  }

  #joinLine(): void {
    const lives = inLine.get(this.#connection);
    if (lives !== undefined) {
      lives.add(this);
      return;
    }
    const first = new Set<NodeLife>([this]);
    inLine.set(this.#connection, first);
    this.#connection.once('close', () => {
      for (const life of first) life.end();
    });
  }
}

function isFailure(outgoing: Outgoing, { destroyed }: Connection): boolean {
  if (outgoing.statusCode >= 500) return true;
  // While the connection stands, only a response that has been sent whole closes.
  return destroyed && (!outgoing.writableFinished || outgoing.errored instanceof Error);
}
