import {
  Agent,
  request,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** The request to send. Default: a POST with a small body. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Leaves the body unfinished. */
  readonly isUnfinished?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
}

/** A request in progress. */
export interface Call {
  readonly request: ClientRequest;
  /** The response, once its headers have arrived. */
  readonly head: Promise<IncomingMessage>;
  /** The complete response. */
  readonly reply: Promise<Reply>;
  /** Disconnects. */
  vanish(): void;
}

/** Sends deliveries. Keeps its connections open by default. */
export class Sender {
  readonly #agent: Agent;

  constructor(keepAlive = true) {
    this.#agent = new Agent({ keepAlive });
  }

  send(port: number, sent: Sent = {}): Call {
    const {
      method = 'POST',
      path = '/',
      headers = {},
      body = method === 'POST' ? '{"event":"paid"}' : '',
    } = sent;
    const outgoing = request({ port, method, path, headers, agent: this.#agent });
    const head = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
    });
    const reply = head.then(replyOf);
    // A test that disconnects does not await the response.
    reply.catch(() => undefined);
    if (sent.isUnfinished === true) outgoing.write(body);
    else outgoing.end(body);
    return { request: outgoing, head, reply, vanish: () => void outgoing.destroy() };
  }

  destroy(): void {
    this.#agent.destroy();
  }
}

async function replyOf(incoming: IncomingMessage): Promise<Reply> {
  const { socket, headers, statusCode: status = 0 } = incoming;
  return { status, headers, body: await text(incoming), socket };
}
