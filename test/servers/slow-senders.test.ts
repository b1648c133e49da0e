import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { drivers } from '../conformance/drivers.ts';
import type { Outflow } from '../conformance/exchange.ts';
import { silent } from '../conformance/held.ts';
import { starter, stopAll, type Receiver } from '../conformance/receiver.ts';
import { head, post, Wire } from './wire.ts';

const wires: Wire[] = [];
/** More than the sockets of both sides hold. */
const LARGE = 'x'.repeat(8 * 1024 * 1024);

beforeAll(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});

afterAll(() => {
  vi.useRealTimers();
});

afterEach(async () => {
  for (const wire of wires.splice(0)) wire.close();
  await stopAll();
});

function open(receiver: Receiver): Wire {
  const wire = new Wire(receiver.port);
  wires.push(wire);
  return wire;
}

// Elsewhere the runtime decides when a request starts.
const onConnections = drivers.filter(({ seesConnection }) => seesConnection);

describe.each(onConnections)('a slow sender on $name', (driver) => {
  const start = starter(driver);

  it('takes no worker and no place while its body arrives', async () => {
    const receiver = await start({ concurrency: 2 });
    for (let count = 0; count < 10; count += 1) open(receiver).write(`${head('Content-Length: 2')}{`);
    await receiver.whenAsked(10);
    expect((await receiver.send({ body: 'paid' }).reply).body).toBe('paid');
    expect(receiver.snapshot).toMatchObject({ active: 0, depth: 0, totals: { admitted: 1 } });
  });

  it('gets 408 when its body takes longer than bodyTimeoutMs', async () => {
    const receiver = await start({ bodyTimeoutMs: 3000 });
    const wire = open(receiver);
    wire.write(`${head('Content-Length: 2')}{`);
    await receiver.whenAsked(1);
    // After a complete request, the first one waits for its body.
    await receiver.send().reply;
    vi.advanceTimersByTime(2999);
    expect(wire.received).toBe('');
    vi.advanceTimersByTime(1);
    await wire.until('HTTP/1.1 408 Request Timeout');
    vi.advanceTimersByTime(2000);
    await wire.whenOver();
    expect(receiver.handled).toHaveLength(1);
    expect(receiver.snapshot.totals.admitted).toBe(1);
  });

  it('gets the status after which it retries instead of 408, which some senders take for final', async () => {
    const receiver = await start({ bodyTimeoutMs: 3000, delivery: () => ({ statusCode: 503 }) });
    const wire = open(receiver);
    wire.write(`${head('Content-Length: 2')}{`);
    await receiver.whenAsked(1);
    await receiver.send().reply;
    vi.advanceTimersByTime(3000);
    await wire.until('HTTP/1.1 503 Service Unavailable');
  });

  it('is handled in a dry run however long its body takes', async () => {
    const receiver = await start({ dryRun: true, bodyTimeoutMs: 300 });
    const wire = open(receiver);
    wire.write(`${head('Content-Length: 4')}pa`);
    await receiver.whenHandled(1);
    vi.advanceTimersByTime(1000);
    wire.write('id');
    await wire.until('paid');
  });

  it('is handled when its body arrives slowly but in time', async () => {
    const receiver = await start();
    const wire = open(receiver);
    wire.write(`${head('Content-Length: 6')}pa`);
    await receiver.whenAsked(1);
    await receiver.send().reply;
    vi.advanceTimersByTime(4000);
    wire.write('id');
    await receiver.send().reply;
    wire.write('!!');
    await wire.until('paid!!');
  });

  it('gets 408 when a large body stalls, and takes no worker', async () => {
    const receiver = await start({ concurrency: 1 });
    const wire = open(receiver);
    wire.write(`${head('Content-Length: 500000')}${'x'.repeat(200_000)}`);
    await receiver.whenAsked(1);
    while (receiver.requests[0]?.readableLength !== 200_000) await setImmediate();
    expect((await receiver.send({ body: 'paid' }).reply).body).toBe('paid');
    vi.advanceTimersByTime(5000);
    await wire.until('HTTP/1.1 408 Request Timeout');
    vi.advanceTimersByTime(2000);
    await wire.whenOver();
    expect(receiver.snapshot.totals).toMatchObject({ admitted: 1, completed: 1, failed: 0 });
  });

  it('has its large body read completely when each piece arrives in time', async () => {
    const receiver = await start();
    const wire = open(receiver);
    const piece = 'x'.repeat(150_000);
    wire.write(head('Content-Length: 450000'));
    await receiver.whenAsked(1);
    for (let count = 1; count <= 3; count += 1) {
      wire.write(piece);
      if (count === 3) break;
      const length = count * piece.length;
      while (receiver.requests[0]?.readableLength !== length) await receiver.send({ method: 'GET' }).reply;
      vi.advanceTimersByTime(4000);
    }
    await wire.until(`${piece}${piece}${piece}`);
  });

  it('takes one worker with pipelined requests behind a response that does not end', async () => {
    let outflow: Outflow | undefined;
    const receiver = await start(
      { concurrency: 3, skip: ({ method }) => method === 'GET' },
      {
        handle(exchange) {
          if (outflow !== undefined) return silent(exchange);
          outflow = exchange.stream();
          outflow.write('endless');
          return undefined;
        },
      },
    );
    const wire = open(receiver);
    wire.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n' + post('{}').repeat(10));
    await wire.until('endless');
    await receiver.whenAsked(11);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    expect(receiver.snapshot).toMatchObject({ active: 0, depth: 0, totals: { admitted: 0 } });
    outflow?.end();
    await receiver.when(({ active }) => active === 1);
    expect(receiver.snapshot.totals.admitted).toBe(1);
    wire.close();
    await receiver.whenClosed(0);
    receiver.clock.advance(60_100);
  });

  it('is disconnected when it pipelines hundreds of requests behind a response that does not end', async () => {
    const receiver = await start({}, { handle: silent });
    const wire = open(receiver);
    wire.write(post('{}').repeat(300));
    await wire.whenOver();
    expect(receiver.sockets[0]?.destroyed).toBe(true);
    expect(receiver.snapshot.totals.admitted).toBeLessThan(2);
  });

  it('frees its worker when it does not read its response', async () => {
    const receiver = await start(
      { concurrency: 1 },
      {
        handle(exchange) {
          exchange.answer(200, LARGE);
        },
      },
    );
    const wire = open(receiver);
    wire.socket.pause();
    wire.write(post('{}'));
    await receiver.whenHandled(1);
    const waiting = await receiver.sendToWait();
    vi.advanceTimersByTime(5000);
    await receiver.whenHandled(2);
    expect(receiver.sockets[0]?.destroyed).toBe(false);
    waiting.vanish();
  });
});
