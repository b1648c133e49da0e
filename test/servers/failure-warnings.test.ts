import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { withBackpressure } from '@webhook-backpressure/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FailureWarnings } from '../../packages/node/src/with-backpressure.ts';

function bed(): { warnings: FailureWarnings; shown: string[] } {
  const shown: string[] = [];
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => {
    shown.push(String(warning));
  });
  vi.useFakeTimers();
  return { warnings: new FailureWarnings(), shown };
}

describe('warnings of failures', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('show the first of a kind and report the number of others', () => {
    const { warnings, shown } = bed();
    for (let i = 0; i < 200; i += 1) warnings.note('POST', new TypeError(`text of a sender ${String(i)}`));
    for (let i = 0; i < 3; i += 1)
      warnings.note('PUT', Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
    expect(shown).toEqual(['POST: TypeError: text of a sender 0', 'PUT: Error: aborted']);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(shown.slice(2)).toEqual(['Failures since the last report: 199 more TypeError, 2 more ECONNRESET']);
    expect(vi.getTimerCount()).toBe(0);
    warnings.note('POST', new TypeError('again'));
    expect(shown).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(1);
  });

  it('distinguish a limited number of kinds', () => {
    const { warnings, shown } = bed();
    for (let i = 0; i < 10_000; i += 1) warnings.note('POST', { code: `E${String(i)}` });
    expect(shown).toHaveLength(21);
  });

  it.each([
    ['an object without a prototype', Object.create(null)],
    ['a proxy that was revoked', revoked()],
    ['undefined', undefined],
    ['a symbol', Symbol('a')],
    ['an error whose stack throws', Object.defineProperty(new Error('a'), 'stack', { get: () => boom() })],
    ['an object whose name throws', Object.defineProperty({}, 'name', { get: () => boom() })],
  ])('show any thrown value: %s', (_name, thrown) => {
    const { warnings, shown } = bed();
    warnings.note('POST', thrown);
    expect(shown).toHaveLength(1);
  });
});

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function boom(): never {
  throw new Error('boom');
}

describe('withBackpressure', () => {
  const warned = vi.fn();
  const server = createServer();
  afterEach(() => {
    process.off('warning', warned);
    server.closeAllConnections();
    server.close();
  });

  it('warns once of 200 aborted uploads, and responds to any thrown value with 500', async () => {
    process.on('warning', warned);
    const context = new AsyncLocalStorage();
    let begun = 0;
    let ended = 0;
    const listener = withBackpressure(
      async (req) => {
        begun += 1;
        try {
          await text(req);
        } finally {
          ended += 1;
        }
        throw Object.create(null);
      },
      // A delivery would wait for its body to arrive.
      { skip: () => true },
    );
    server.on('request', (req, res) => {
      context.run({}, () => {
        listener.call(server, req, res);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets)
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
    await vi.waitUntil(() => begun === 200);
    for (const socket of sockets) socket.destroy();
    await vi.waitUntil(() => ended === 200);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warned).toHaveBeenCalledOnce();

    for (let i = 0; i < 3; i += 1) {
      const response = await fetch(`http://127.0.0.1:${String(port)}/`, { method: 'POST', body: 'whole' });
      expect(response.status).toBe(500);
    }
    expect(warned).toHaveBeenCalledTimes(2);
    expect(warned.mock.calls.map(([warning]) => (warning as { code: string }).code)).toEqual([
      'WBP_LISTENER_FAILED',
      'WBP_LISTENER_FAILED',
    ]);
  });
});
