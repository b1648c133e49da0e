import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { memoryStore, type RawDelivery } from '@webhook-backpressure/inbox';
import { webhookInbox as forNode } from '@webhook-backpressure/node/inbox';
import express5 from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { adapters } from '../../../conformance/adapters.ts';
import { InboxBench } from '../inbox-bench.ts';

type Shown = Pick<RawDelivery, 'context' | 'headers' | 'method' | 'params' | 'path' | 'url'>;

/** What each callback was called with. */
class Witness {
  readonly shown = new Map<string, Shown>();

  note(callback: string, { method, url, path, params, context, headers }: RawDelivery): void {
    this.shown.set(callback, { method, url, path, params, context, headers });
  }

  /** All callbacks, and a `process` that always fails. */
  get options(): Parameters<typeof forNode>[0] {
    const note =
      <T>(callback: string, said: T) =>
      (delivery: RawDelivery): T => {
        this.note(callback, delivery);
        return said;
      };
    return {
      store: memoryStore(),
      verify: note('verify', true),
      id: note('id', 'evt_1'),
      keyGenerator: note('keyGenerator', 'shop'),
      handshake: note('handshake', undefined),
      process: (delivery) => {
        this.note('process', delivery);
        throw new Error('it failed');
      },
      onDead: note('onDead', undefined),
      retry: { attempts: 1 },
    };
  }
}

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Sends a delivery with a client that does not normalize the path. */
async function post(server: Server, path: string): Promise<void> {
  server.listen(0);
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const headers = { 'x-from': 'test', connection: 'close' };
  const sending = httpRequest({ port, path, method: 'POST', headers }).end('{}');
  const [answer] = (await once(sending, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  answer.resume();
  expect(answer.statusCode).toBe(200);
}

const all = adapters.map(({ routed }) => routed);

describe.each(all)('a delivery on $name', ({ hasRoutes, seesSentUrl, mount }) => {
  it('passes the original URL, the route params and the context to every callback and dead letter', async () => {
    const witness = new Witness();
    const { listener, inbox } = mount(witness);
    const dead = new Promise((resolve) => {
      inbox.subscribe(({ type }) => {
        if (type === 'dead') resolve(type);
      });
    });
    const path = '/api/v1/hooks/caf%C3%A9%20%2e';
    const url = `${path}?a=1&a=2&b=%7e%27'(x)&c`;
    await post(
      createServer((req, res) => void listener(req, res)),
      url,
    );
    await dead;
    await new Promise((resolve) => setImmediate(resolve));
    const expected = {
      ...{
        method: 'POST',
        url: seesSentUrl ? url : url.replace(/'/g, '%27'),
        path,
        context: { from: 'test' },
      },
      params: hasRoutes ? { version: 'v1', tenant: 'café .' } : {},
    };
    const callbacks = ['verify', 'handshake', 'id', 'keyGenerator', 'process', 'onDead'];
    expect([...witness.shown.keys()]).toEqual(callbacks);
    for (const callback of callbacks) expect(witness.shown.get(callback), callback).toMatchObject(expected);
    expect(await inbox.deadLetters.get('evt_1')).toMatchObject(expected);
    expect(await inbox.deadLetters.list()).toMatchObject([expected]);
    await inbox.close();
  });
});

describe.each(all.filter(({ seesSentUrl }) => seesSentUrl))(
  'an app on $name that Express mounts',
  ({ mount }) => {
    it('passes the whole URL', async () => {
      const witness = new Witness();
      const { listener, inbox } = mount(witness);
      inbox.subscribe(() => undefined);
      const app = express5().use('/outer', (req, res) => void listener(req, res));
      const url = '/outer/api/v1/hooks/a?b=%7e';
      await post(
        createServer((req, res) => void app(req, res)),
        url,
      );
      expect(witness.shown.get('verify')).toMatchObject({ url, path: '/outer/api/v1/hooks/a' });
      await inbox.close();
    });
  },
);

describe('the request facts of a delivery', () => {
  async function shown(
    request: Parameters<InboxBench['deliver']>[3],
    headers: Record<string, string> = {},
  ): Promise<RawDelivery> {
    const bench = new InboxBench();
    expect((await bench.deliver('a', '{}', headers, request)).status).toBe(200);
    return bench.last.delivery;
  }

  it.each([
    ['https://shop.example/a/b?c=/d', '/a/b?c=/d'],
    ['http://u:p@[::1]:80/a', '/a'],
    ['https://shop.example?x', '/?x'],
    ['https://shop.example', '/'],
    ['//shop.example/a', '//shop.example/a'],
    ['/a?u=https://shop.example/b', '/a?u=https://shop.example/b'],
    ['*', '*'],
    ['', ''],
  ])('consist of path and query for %s: %s', async (url, expected) => {
    const delivery = await shown({ url });
    expect([delivery.url, delivery.path]).toEqual([expected, expected.split('?')[0]]);
  });

  it('include params of any name, and join lists to paths', async () => {
    const params = Object.fromEntries<string | string[] | undefined>([
      ['__proto__', 'x'],
      ['rest', ['a', 'b']],
      ['0', 'first'],
      ['missing', undefined],
    ]);
    const delivery = await shown({ params, method: 'put' });
    expect(Object.entries(delivery.params).sort()).toEqual([
      ['0', 'first'],
      ['__proto__', 'x'],
      ['rest', 'a/b'],
    ]);
    expect(delivery.method).toBe('PUT');
    expect(() => {
      (delivery.params as Record<string, string>)['0'] = 'changed';
    }).toThrow(TypeError);
  });

  it('omit the pseudo-headers of HTTP/2', async () => {
    const seen: RawDelivery[] = [];
    const webhooks = forNode({
      store: memoryStore(),
      verify: false,
      process: (delivery) => void seen.push(delivery),
    });
    const completed = new Promise((resolve) => {
      webhooks.inbox.subscribe(({ type }) => {
        if (type === 'completed') resolve(type);
      });
    });
    const server = createHttp2Server((req, res) => {
      webhooks(req as never, res as never);
    });
    server.listen(0);
    servers.push(server);
    await once(server, 'listening');
    const session = connect(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
    const stream = session.request({ ':method': 'POST', ':path': '/hooks?a=1', 'x-from': 'test' });
    stream.end('{}');
    await once(stream, 'response');
    stream.resume();
    await completed;
    session.close();
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/hooks?a=1', headers: { 'x-from': 'test' } });
    expect(Object.keys(seen[0]?.headers ?? {}).filter((name) => name.startsWith(':'))).toEqual([]);
  });
});
