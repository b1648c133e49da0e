import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { drivers } from '../conformance/drivers.ts';
import { held } from '../conformance/held.ts';
import { starter, stopAll, type Receiver } from '../conformance/receiver.ts';
import { head, post, Wire } from './wire.ts';

const MIB = 1024 * 1024;
/** The 64 KiB that are read, plus a chunk of the socket and the buffers of node's streams. */
const READ_AT_MOST = 256 * 1024;
const REFUSED = '"retryAfterSeconds":66}';
const wires: Wire[] = [];

beforeAll(() => {
  // Only the time limit of lingering bodies uses it.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
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

// Elsewhere the runtime decides how much of an unread body it reads.
const onConnections = drivers.filter(({ seesConnection }) => seesConnection);
// The adapters that write refusals themselves. With Hono the runtime decides.
const onNode = onConnections.filter(({ name }) => !name.startsWith('Hono'));

describe.each(onNode)('the unread body of a refusal on $name', (driver) => {
  const start = starter(driver);
  const refusing = { shed: { default: true } };

  describe.each([
    ['8 MiB', `Content-Length: ${String(8 * MIB)}`, (): Buffer => Buffer.alloc(8 * MIB)],
    [
      'endless and chunked',
      'Transfer-Encoding: chunked',
      (): string => `100000\r\n${'x'.repeat(MIB)}\r\n`.repeat(8),
    ],
  ])('that is %s', (_which, field, body) => {
    it('is read by 64 KiB at most, and the sender gets the response', async () => {
      const receiver = await start(refusing);
      const wire = open(receiver);
      wire.write(head(field));
      wire.write(body());
      await wire.until(REFUSED);
      expect(wire.received).toMatch(/^HTTP\/1.1 503 [^]*connection: close\r\n/i);
      // Enough time to read much more.
      for (let i = 0; i < 20; i += 1) await receiver.send({ method: 'GET' }).reply;
      expect(receiver.sockets[0]?.destroyed).toBe(false);
      expect(receiver.sockets[0]?.bytesRead).toBeLessThan(READ_AT_MOST);
      vi.advanceTimersByTime(2000);
      await wire.whenOver();
      expect(receiver.sockets[0]?.bytesRead).toBeLessThan(READ_AT_MOST);
      expect(receiver.snapshot.totals.admitted).toBe(0);
    });
  });

  it.each([
    ['short', 'Content-Length: 1000', 'half of it'],
    ['long', 'Content-Length: 100000', 'half of it'],
    ['chunked', 'Transfer-Encoding: chunked', '5\r\nhalf '],
    ['empty so far', 'Content-Length: 1000', ''],
  ])('is awaited for at most 2 s when it never arrives: %s', async (_which, field, half) => {
    const receiver = await start(refusing);
    const wire = open(receiver);
    wire.write(head(field) + half);
    await wire.until(REFUSED);
    vi.advanceTimersByTime(999);
    expect(receiver.sockets[0]?.destroyed).toBe(false);
    vi.advanceTimersByTime(1001);
    await wire.whenOver();
    expect(receiver.sockets[0]?.destroyed).toBe(true);
  });

  it('keeps the connection open when it is short and arrives later', async () => {
    const receiver = await start(refusing);
    const wire = open(receiver);
    const body = 'x'.repeat(60_000);
    wire.write(post(body).slice(0, -30_000));
    await wire.until(REFUSED);
    expect(wire.received).not.toMatch(/connection: close/i);
    vi.advanceTimersByTime(1500);
    wire.write(body.slice(-30_000) + post('{}'));
    await wire.until(REFUSED, 2);
    vi.advanceTimersByTime(5000);
    wire.write(post('{}', 'Connection: close'));
    await wire.until(REFUSED, 3);
  });

  it('keeps the connection open when it is chunked and has arrived', async () => {
    const receiver = await start(refusing);
    const wire = open(receiver);
    const chunked = `${head('Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`;
    wire.write(chunked + chunked);
    await wire.until(REFUSED, 2);
    expect(wire.received).not.toMatch(/connection: close/i);
  });

  it.each([
    ['the sender says Connection: close', head('Content-Length: 1000', 'Connection: close'), false],
    ['the sender speaks HTTP/1.0', head('Content-Length: 1000').replace('1.1', '1.0'), false],
    ['the receiver shuts down', head('Content-Length: 1000'), true],
  ])('does not cause a reset that loses the response when %s', async (_when, text, isClosing) => {
    const receiver = await start(refusing);
    if (isClosing) await receiver.intake.close();
    const wire = open(receiver);
    wire.write(text);
    await wire.until('"retryAfterSeconds":');
    expect(receiver.sockets[0]?.destroyed).toBe(false);
    wire.write('x'.repeat(1000));
    await wire.whenOver();
    expect(wire.error).toBe(undefined);
    expect(wire.received).toMatch(/connection: close/i);
  });

  it.each([
    ['HTTP/1.0', post('{}').replace('1.1', '1.0')],
    ['Connection: close', post('{}', 'Connection: close')],
  ])('is complete with %s, and the connection ends with the response', async (_which, text) => {
    const receiver = await start(refusing);
    const wire = open(receiver);
    wire.write(text);
    await wire.whenOver();
    expect(wire.received).toContain(REFUSED);
    expect(wire.error).toBe(undefined);
  });

  it('does not break an unfinished response on its connection', async () => {
    const { handle, release } = held();
    const receiver = await start(
      { shed: { refused: true }, keyGenerator: (asked) => asked.header('x-key') ?? '' },
      { handle },
    );
    const wire = open(receiver);
    wire.write(post('first') + head('Content-Length: 1000', 'X-Key: refused') + 'half');
    await receiver.whenHandled(1);
    await receiver.whenAsked(2);
    await setImmediate();
    vi.advanceTimersByTime(4000);
    expect(receiver.sockets[0]?.destroyed).toBe(false);
    release();
    await wire.until('first');
    await wire.until(REFUSED);
    vi.advanceTimersByTime(2000);
    await wire.whenOver();
  });

  it('leaves no listeners and no timers', async () => {
    const receiver = await start(refusing);
    const wire = open(receiver);
    for (let count = 1; count <= 30; count += 1) {
      wire.write(head('Content-Length: 4'));
      await wire.until(REFUSED, count);
      wire.write('paid');
    }
    const [socket] = receiver.sockets;
    for (const name of socket?.eventNames() ?? []) expect(socket?.listenerCount(name)).toBeLessThan(5);
    vi.advanceTimersByTime(2000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe.each(onConnections)('the unread body of a refusal by the option handler on $name', (driver) => {
  const start = starter(driver);

  it.each([
    ['8 MiB', `Content-Length: ${String(8 * MIB)}`, (): Buffer => Buffer.alloc(8 * MIB)],
    [
      'endless and chunked',
      'Transfer-Encoding: chunked',
      (): string => `100000\r\n${'x'.repeat(MIB)}\r\n`.repeat(8),
    ],
  ])('is read by 64 KiB at most, and the connection ends: %s', async (_which, field, body) => {
    const receiver = await start({
      shed: { default: true },
      onRefused: (_refusal, exchange) => {
        exchange.answer(418, 'teapot');
      },
    });
    const wire = open(receiver);
    wire.write(head(field));
    wire.write(body());
    await wire.until('teapot');
    // Enough time to read much more.
    for (let i = 0; i < 20; i += 1) await receiver.send({ method: 'GET' }).reply;
    expect(receiver.sockets[0]?.bytesRead).toBeLessThan(READ_AT_MOST);
    vi.advanceTimersByTime(2000);
    await wire.whenOver();
  });
});
