import { once } from 'node:events';
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { Sent } from '../conformance/sender.ts';
import { Child } from './closing-child.ts';

const PROBE: Sent = { method: 'GET', path: '/ready' };
/** Longer than any test: a second signal ends the process. */
const LONG_MS = '600000';

describe('a draining process', () => {
  let child: Child;
  afterEach(() => child.stop());

  async function start(...words: string[]): Promise<Child> {
    child = new Child('draining', ...words);
    child.process.once('message', (message) => {
      otherPort = (message as { other: { port: number } }).other.port;
    });
    return child.start();
  }
  let otherPort = 0;

  /** Sends a signal, waits until the probe fails, and returns the response of the probe. */
  async function untilNotReady(): Promise<unknown> {
    child.process.kill('SIGTERM');
    for (;;) {
      const { status, body } = await child.sender.send(child.port, PROBE).reply;
      if (status !== 200) return [status, body];
    }
  }

  it('accepts deliveries while its probe fails, and closes their connections', async () => {
    await start('probed', LONG_MS);
    const before = await child.sender.send(child.port).reply;
    expect([before.status, before.headers.connection]).toEqual([200, 'keep-alive']);
    expect((await child.sender.send(child.port, PROBE).reply).body).toBe('{"status":"ready"}');

    expect(await untilNotReady()).toEqual([503, '{"status":"draining"}']);
    for (const port of [child.port, otherPort, child.port, otherPort]) {
      const { status, body, headers } = await child.sender.send(port).reply;
      expect([status, body, headers.connection]).toEqual([200, 'done', 'close']);
    }
  });

  it('drains by default with a readiness probe', async () => {
    await start('probed');
    expect(await untilNotReady()).toEqual([503, '{"status":"draining"}']);
    expect((await child.sender.send(child.port).reply).status).toBe(200);
  });

  it('does not drain by default without a readiness probe', async () => {
    await start();
    const held = child.sender.send(child.port, { path: '/hold' });
    await child.next('asked');
    child.process.kill('SIGTERM');
    // It has closed: the other intake was idle.
    await child.next('closed');
    expect((await child.sender.send(child.port).reply).status).toBe(503);
    child.goOn();
    expect((await held.reply).status).toBe(200);
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('ends immediately at a second signal', async () => {
    await start('probed', LONG_MS);
    await untilNotReady();
    child.process.kill('SIGTERM');
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('handles all deliveries until the load balancer has noticed', async () => {
    await start('probed', '2000');
    let isRouting = true;
    const served: number[] = [];
    const senders = Array.from({ length: 4 }, async (_, i) => {
      while (isRouting) {
        const { status } = await child.sender.send(i % 2 === 0 ? child.port : otherPort).reply;
        served.push(status);
      }
    });
    const noticed = untilNotReady();
    await noticed;
    const beforeNotice = served.length;
    // A load balancer needs some time: here, 20 deliveries.
    while (served.length < beforeNotice + 20) await new Promise((resolve) => setImmediate(resolve));
    isRouting = false;
    await Promise.all(senders);
    expect(new Set(served)).toEqual(new Set([200]));
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it.each(['one call', 'two calls'])('closes all sources of %s before it ends', async (calledBy) => {
    await start(calledBy);
    const calls = [child.port, otherPort].map((port) => child.sender.send(port, { path: '/hold' }));
    await child.next('asked');
    await child.next('asked');
    await child.signal();
    child.goOn();
    expect(await child.next('closed')).toEqual({ completed: 1, refused: 0, remaining: 0 });
    // The other intake still runs, and its server still refuses.
    const late = await Promise.all([child.port, otherPort].map((port) => child.sender.send(port).reply));
    expect(late.map(({ status }) => status)).toEqual([503, 503]);
    child.goOn();
    expect(await child.next('closed')).toEqual({ completed: 1, refused: 0, remaining: 0 });
    for (const call of calls) expect((await call.reply).body).toBe('done');
    expect(await child.exit).toEqual([null, 'SIGTERM']);
  });

  it('accepts new HTTP/2 sessions and sends GOAWAY to each', async () => {
    await start('http2', LONG_MS);
    const url = `http://127.0.0.1:${String(child.port)}`;
    const before = connect(url);
    await once(before, 'connect');
    const told = once(before, 'goaway');
    child.process.kill('SIGTERM');
    await told;
    const session = connect(url);
    const left = once(session, 'goaway');
    const stream = session.request({ ':method': 'POST' });
    stream.end('{}');
    expect(await text(stream)).toBe('done');
    await left;
    child.process.kill('SIGTERM');
    expect(await child.exit).toEqual([null, 'SIGTERM']);
    session.destroy();
    before.destroy();
  });

  it('lets HTTP/2 streams end, sends GOAWAY, and does not wait for idle sessions', async () => {
    await start('probed', 'http2', '1');
    const url = `http://127.0.0.1:${String(child.port)}`;
    const idle = connect(`http://127.0.0.1:${String(otherPort)}`);
    await once(idle, 'connect');
    const session = connect(url);
    const stream = session.request({ ':method': 'POST', ':path': '/hold' });
    const status = once(stream, 'response') as Promise<[Record<string, unknown>]>;
    stream.end('{}');
    await child.next('asked');
    const left = once(session, 'goaway');
    child.process.kill('SIGTERM');
    await left;
    child.goOn();
    expect(await text(stream)).toBe('done');
    expect((await status)[0][':status']).toBe(200);
    expect(await child.exit).toEqual([null, 'SIGTERM']);
    idle.destroy();
  });
});
