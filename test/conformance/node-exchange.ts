import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Asked, Exchange, Outflow } from './exchange.ts';

export function askedOf(request: IncomingMessage): Asked {
  return {
    method: request.method ?? '',
    header: (name) => request.headers[name] as string | undefined,
  };
}

/** For node:http and Express. */
export function nodeExchange(req: IncomingMessage, res: ServerResponse): Exchange {
  return {
    info: req.backpressure,
    read: () => text(req),
    answer(status, body) {
      res.writeHead(status, { 'Content-Type': 'text/plain' }).end(body);
    },
    stream(): Outflow {
      res.writeHead(200, { 'Content-Type': 'text/plain' });
      res.flushHeaders();
      return {
        write: (chunk) => void res.write(chunk),
        end: () => void res.end(),
        fail: (error) => void res.destroy(error),
      };
    },
  };
}
