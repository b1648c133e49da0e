import {
  Agent,
  request,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** What is sent. By default a POST with a small body. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The body goes on after what is given here, and never ends by itself. */
  readonly isUnfinished?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
}

/** A request on its way. */
export interface Call {
  readonly request: ClientRequest;
  /** The head of the answer. */
  readonly head: Promise<IncomingMessage>;
  /** The answer in full. */
  readonly reply: Promise<Reply>;
  /** Hangs up. */
  vanish(): void;
}

/** Sends deliveries, on connections that it keeps unless it is told otherwise. */
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
    // A test that hangs up does not ask for the answer.
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
