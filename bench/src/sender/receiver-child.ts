import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { answer } from '../pinned.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const REFUSED = 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n';
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const PATH = /^POST (\S+) /;

/** Requests by path since they were asked for last. */
let counts = new Map<string, number>();

/** Answers on a socket without an HTTP server, so that the receiver is never the slower side. */
function serve(socket: Socket): void {
  let received: Buffer = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    for (;;) {
      const end = received.indexOf(HEAD_END);
      if (end < 0) return;
      const head = received.toString('latin1', 0, end);
      const length = Number(LENGTH.exec(head)?.[1] ?? 0);
      const total = end + HEAD_END.length + length;
      if (received.length < total) return;
      received = received.subarray(total);
      const path = PATH.exec(head)?.[1] ?? '';
      counts.set(path, (counts.get(path) ?? 0) + 1);
      if (path !== '/hang') socket.write(path === '/refuse' ? REFUSED : OK);
    }
  });
}

answer(async (question: 'start' | 'counts'): Promise<unknown> => {
  if (question === 'counts') {
    const found = Object.fromEntries(counts);
    counts = new Map();
    return found;
  }
  const server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
});
