import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestListener } from '@webhook-backpressure/node';
import { behaviors, type App } from './behaviors.ts';
import { head, post, Wire } from './wire.ts';

const servers: Server[] = [];

beforeEach(() => {
  // Frameworks print the errors that these tests cause.
  vi.spyOn(console, 'error').mockReturnValue();
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function serve(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0);
  await once(server, 'listening');
  return server;
}

/** The complete response to a request, without its date. */
async function transcript(server: Server, request: string): Promise<string> {
  const wire = new Wire((server.address() as AddressInfo).port);
  wire.write(request);
  await wire.whenOver();
  wire.close();
  return wire.received.replace(/^Date: .*$/im, 'Date: now');
}

const CLOSE = 'Connection: close';
const JSON_TYPE = 'Content-Type: application/json';
const to = (path: string, request: string): string => request.replace(' / ', ` ${path} `);

const requests: [string, string][] = [
  ['a JSON body', to('/json', post('{"paid":true}', JSON_TYPE, CLOSE))],
  ['a broken JSON body', to('/json', post('{"paid":', JSON_TYPE, CLOSE))],
  [
    'a chunked body',
    to(
      '/json',
      `${head(JSON_TYPE, 'Transfer-Encoding: chunked', CLOSE)}b\r\n{"paid":1  \r\n1\r\n}\r\n0\r\n\r\n`,
    ),
  ],
  ['a long body', to('/length', post('x'.repeat(300_000), CLOSE))],
  ['an unread body', to('/ignore', post('x'.repeat(50_000), CLOSE))],
  ['a streamed response', to('/stream', post('', CLOSE))],
  ['a response with trailers', to('/trailers', post('', CLOSE))],
  ['a response without a body', to('/empty', post('', CLOSE))],
  ['a file', to('/file', post('', CLOSE))],
  ['a response whose end() is wrapped', to('/wrapped', post('', CLOSE))],
  ['a thrown error', to('/throw', post('', CLOSE))],
  ['a rejection', to('/reject', post('', CLOSE))],
  ['an unknown path', to('/nowhere', post('', CLOSE))],
  ['a GET', to('/json', head(CLOSE)).replace('POST', 'GET')],
  ['a HEAD', to('/stream', head(CLOSE)).replace('POST', 'HEAD')],
  ['an OPTIONS', to('/json', head(CLOSE)).replace('POST', 'OPTIONS')],
  ['an unhandled upgrade', to('/empty', post('', 'Connection: Upgrade, close', 'Upgrade: websocket'))],
];

describe.each(behaviors)('the middleware without load on $name', ({ build }: { build: App }) => {
  it.each(requests)('does not change the response to %s', async (_what, request) => {
    const bare = await transcript(await serve(build(false)), request);
    expect(await transcript(await serve(build(true)), request)).toBe(bare);
    expect(bare).toMatch(/^HTTP\/1.1 \d{3} /);
  });

  it('ignores upgrades', async () => {
    const server = await serve(build(true));
    server.on('upgrade', (_req: IncomingMessage, socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello');
    });
    const request = head('Connection: Upgrade', 'Upgrade: echo');
    expect(await transcript(server, request)).toContain('\r\n\r\nhello');
  });
});
