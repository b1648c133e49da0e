import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** As Shopify sends it, shortened; without a body, so that nothing is read. */
export const HEADERS = {
  host: 'example.com',
  'content-type': 'application/json',
  'user-agent': 'Shopify-Captain-Hook',
  'x-shopify-topic': 'orders/create',
  'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  'x-shopify-hmac-sha256': 'XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=',
  'content-length': '0',
};

/** A connection that discards what is written. */
class Discarding extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  override _read(): void {
    // Nothing is sent.
  }
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
  setTimeout(): void {
    // Nothing takes time.
  }
}

/** Sends a delivery to a listener of node:http, and resolves with the status of its response. */
export function requestFromNode(answer: RequestListener): Promise<number> {
  return new Promise((resolve) => {
    const socket = new Discarding() as unknown as Socket;
    const req = new IncomingMessage(socket);
    req.method = 'POST';
    req.url = '/webhooks';
    req.httpVersionMajor = 1;
    req.httpVersionMinor = 1;
    req.httpVersion = '1.1';
    req.headers = { ...HEADERS };
    req.complete = true;
    req.push(null);
    const res = new ServerResponse(req);
    res.assignSocket(socket);
    res.on('finish', () => {
      // What the server of node does.
      res.detachSocket(socket);
      res.emit('close');
      resolve(res.statusCode);
    });
    answer(req, res);
  });
}
