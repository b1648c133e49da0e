import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Resolve } from '../../../packages/sender/src/requests/undici-requester.ts';
import { rawServer } from './raw-server.ts';
import { OK, request, requester } from './requester-bed.ts';

const CLOSING = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

/** Names have these addresses, one list for each lookup, the last for all others. */
function resolving(...lists: readonly (readonly string[])[]): Resolve & { readonly calls: string[] } {
  const calls: string[] = [];
  const resolve: Resolve = (hostname, callback) => {
    const list = lists[Math.min(calls.length, lists.length - 1)] ?? [];
    calls.push(hostname);
    const addresses: LookupAddress[] = list.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    setImmediate(() => {
      callback(null, addresses);
    });
  };
  return Object.assign(resolve, { calls });
}

const at = (host: string, port: number): { url: URL } => ({
  url: new URL(`http://${host}:${String(port)}/`),
});
const first = (address: string): boolean => address === '127.0.0.1';

describe('the address guard', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])('connects to %s only when it is allowed', async (host) => {
    const server = await rawServer((socket) => socket.write(OK), '::');
    const guarded = requester({ allowPrivateAddresses: false });
    await expect(guarded.send(request(server.port, at(host, server.port)))).rejects.toMatchObject({
      kind: 'address',
    });
    expect(server.sockets).toHaveLength(0);
    const open = requester({ allowPrivateAddresses: true });
    expect((await open.send(request(server.port, at(host, server.port)))).status).toBe(200);
  });

  it('refuses localhost, as the system resolves it', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const guarded = requester({ allowPrivateAddresses: false });
    const sending = guarded.send(request(server.port, at('localhost', server.port)));
    await expect(sending).rejects.toMatchObject({ kind: 'address' });
    expect(server.sockets).toHaveLength(0);
  });

  it.each([
    [['127.0.0.1']],
    [['10.0.0.1', '192.168.1.1']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
    [['::ffff:10.0.0.1']],
    [['64:ff9b::a9fe:a9fe']],
    [[]],
  ])('refuses a name with the addresses %j', async (addresses) => {
    const guarded = requester({ allowPrivateAddresses: false, resolve: resolving(addresses) });
    const failure: unknown = await guarded
      .send(request(1, at('rebound.example', 80)))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'address' });
    expect(String(failure)).not.toMatch(/10\.0|192|127/);
  });

  it('connects to the allowed addresses of a name, and to no other', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const other = await rawServer((socket) => socket.write(OK), '127.0.0.2', server.port);
    const resolve = resolving(['127.0.0.2', '127.0.0.1', '127.0.0.2']);
    const made = requester({ resolve, isAllowed: first });
    expect((await made.send(request(server.port, at('mixed.example', server.port)))).status).toBe(200);
    expect(server.sockets).toHaveLength(1);
    expect(other.sockets).toHaveLength(0);
  });

  it('checks a name again at each connection, because its addresses can change', async () => {
    const server = await rawServer((socket) => socket.end(CLOSING));
    const other = await rawServer((socket) => socket.end(CLOSING), '127.0.0.2', server.port);
    const resolve = resolving(['127.0.0.1'], ['127.0.0.2']);
    const made = requester({ resolve, isAllowed: first });
    const rebound = at('rebound.example', server.port);
    expect((await made.send(request(server.port, rebound))).status).toBe(200);
    await server.allClosed();
    await expect(made.send(request(server.port, rebound))).rejects.toMatchObject({ kind: 'address' });
    expect(resolve.calls).toHaveLength(2);
    expect(other.sockets).toHaveLength(0);
  });
});

describe('names', () => {
  it('are looked up once for connections that open concurrently', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const resolve = resolving(['127.0.0.1']);
    const made = requester({ resolve });
    const sent = Array.from({ length: 50 }, () =>
      made.send(request(server.port, at('many.example', server.port))),
    );
    await Promise.all(sent);
    expect(server.sockets).toHaveLength(50);
    expect(resolve.calls).toEqual(['many.example']);
  });

  it('that do not exist fail as a connection', async () => {
    const missing = Object.assign(new Error('getaddrinfo ENOTFOUND missing.example'), { code: 'ENOTFOUND' });
    const made = requester({
      resolve: (_, callback) => {
        callback(missing, []);
      },
    });
    await expect(made.send(request(1, at('missing.example', 80)))).rejects.toMatchObject({
      kind: 'connection',
      message: 'The connection failed: getaddrinfo ENOTFOUND missing.example',
    });
  });

  it('whose lookup never ends fail by the timeout', async () => {
    const controller = new AbortController();
    const resolve: Resolve = () => {
      controller.abort();
    };
    const sending = requester({ resolve }).send(
      request(1, { ...at('slow.example', 80), signal: controller.signal }),
    );
    await expect(sending).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('send nothing after the timeout, although the connection opens then', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const controller = new AbortController();
    const resolve: Resolve = (_, callback) => {
      controller.abort();
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const made = requester({ resolve });
    const slow = { ...at('slow.example', server.port), signal: controller.signal };
    await expect(made.send(request(server.port, slow))).rejects.toMatchObject({ kind: 'timeout' });
    expect(
      (await made.send(request(server.port, { ...slow, signal: new AbortController().signal }))).status,
    ).toBe(200);
    expect(server.received.join('').match(/POST/g)).toHaveLength(1);
  });
});

describe('TLS', () => {
  it.each([
    ['a server without TLS', () => listening(createHttpServer()), /wrong version|packet length|EPROTO/i],
    ['a server without a certificate', () => listening(createTlsServer({})), /handshake failure/i],
  ])('fails at %s with a clear error', async (_, start, message) => {
    const port = await start();
    const url = new URL(`https://127.0.0.1:${String(port)}/`);
    const failure: unknown = await requester()
      .send(request(port, { url }))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'connection' });
    expect(String(failure)).toMatch(message);
    expect(String(failure).length).toBeLessThan(400);
  });
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
