import { once } from 'node:events';
import { BackpressureError } from '@webhook-backpressure/base';
import { type InboxDelivery, memoryStore } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inboxDrivers, InboxReceiver, stopReceivers, type InboxDriver } from './receivers.ts';
import { slowStore } from './slow-store.ts';

afterEach(async () => {
  await stopReceivers();
  vi.restoreAllMocks();
});

/** The behavior that all frameworks share. */
async function shown(response: Response): Promise<unknown> {
  return [
    response.status,
    response.headers.get('content-type'),
    response.headers.get('retry-after'),
    await response.text(),
  ];
}

function suite(driver: InboxDriver): void {
  const start = (
    options: ConstructorParameters<typeof InboxReceiver>[1] = {},
    reads = false,
  ): Promise<InboxReceiver> => new InboxReceiver(driver, options, reads).start();

  it('answers 200 with the id, and passes the bytes to the handler', async () => {
    const handled: InboxDelivery[] = [];
    const receiver = await start({ process: (delivery) => void handled.push(delivery) });
    const completed = receiver.next('completed');
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const answer = await receiver.post(body, { 'webhook-id': 'a', 'X-Custom': 'Ä' });
    expect(await shown(answer)).toEqual([200, 'application/json', null, '{"id":"a","status":"accepted"}']);
    await completed;
    expect([...(handled[0]?.rawBody ?? [])]).toEqual([...body]);
    expect(handled[0]?.headers).toMatchObject({
      'webhook-id': 'a',
      host: `127.0.0.1:${String(receiver.port)}`,
    });
    const again = await receiver.post('{}', { 'webhook-id': 'a' });
    expect(await shown(again)).toEqual([200, 'application/json', null, '{"id":"a","status":"duplicate"}']);
  });

  it('accepts a body of 1 MiB and an empty one', async () => {
    const sizes: number[] = [];
    const receiver = await start({ process: ({ rawBody }) => void sizes.push(rawBody.byteLength) });
    expect((await receiver.post(new Uint8Array(1 << 20))).status).toBe(200);
    const second = receiver.next('completed');
    expect((await receiver.post('')).status).toBe(200);
    await second;
    expect(sizes).toEqual([1 << 20, 0]);
  });

  it('answers with the success code of the sender profile, without a body', async () => {
    const receiver = await start();
    const zoom = await receiver.post('{}', { 'x-zm-signature': 'v0' });
    expect([zoom.status, await zoom.text()]).toEqual([200, '']);
    const discord = await receiver.post('{"type":1}', { 'user-agent': 'Discord-Webhook/1.0' });
    expect([discord.status, discord.headers.get('content-length'), await discord.text()]).toEqual([
      204,
      null,
      '',
    ]);
  });

  it('passes on a request that cannot be a delivery', async () => {
    const receiver = await start();
    const answer = await fetch(`http://127.0.0.1:${String(receiver.port)}/webhooks`);
    expect(answer.status).toBe(driver.hasNext ? 418 : 405);
    if (!driver.hasNext) expect(answer.headers.get('allow')).toBe('POST');
    expect(receiver.inbox.snapshot().totals.stored).toBe(0);
  });

  it('answers the handshake of a CloudEvents sender', async () => {
    const receiver = await start({ allowedOrigins: ['events.example.com'] });
    const ask = (origin: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${String(receiver.port)}/webhooks`, {
        method: 'OPTIONS',
        headers: { 'webhook-request-origin': origin },
      });
    const allowed = await ask('events.example.com');
    expect([allowed.status, allowed.headers.get('webhook-allowed-origin')]).toEqual([
      200,
      'events.example.com',
    ]);
    expect(allowed.headers.get('webhook-allowed-rate')).toBe('*');
    const denied = await ask('other.example.com');
    expect([denied.status, denied.headers.get('webhook-allowed-origin')]).toEqual([403, null]);
    expect(receiver.inbox.snapshot().totals.arrivals).toBe(0);
  });

  it('answers 401 when verify rejects', async () => {
    const receiver = await start({ verify: ({ headers }) => headers['x-signature'] === 'right' });
    const answer = await receiver.post('{}', { 'x-signature': 'wrong' });
    expect(await shown(answer)).toEqual([
      401,
      'application/problem+json; charset=utf-8',
      null,
      '{"type":"about:blank","title":"Unauthorized","status":401,"detail":"The delivery could not be verified."}',
    ]);
    expect((await receiver.post('{}', { 'x-signature': 'right' })).status).toBe(200);
  });

  it('answers 413 to a body that is too large, with or without Content-Length, and stays usable', async () => {
    const receiver = await start({ maxBodyBytes: 1000 });
    for (const size of [1001, 50_000]) {
      const told = await receiver.post('x'.repeat(size));
      expect([told.status, told.headers.get('content-type')]).toEqual([
        413,
        'application/problem+json; charset=utf-8',
      ]);
    }
    const socket = await receiver.dial();
    const chunk = 'x'.repeat(600);
    socket.write('POST /webhooks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(`258\r\n${chunk}\r\n258\r\n${chunk}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 /);
    expect((await receiver.post('small')).status).toBe(200);
    expect(receiver.inbox.snapshot().totals).toMatchObject({ tooLarge: 3, stored: 1 });
  });

  it('gives advice when the body was consumed before', async () => {
    const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const receiver = await start({}, true);
    const answer = await receiver.post('{"n":1}', { 'content-type': 'application/json' });
    expect(answer.status).toBe(500);
    const [error] = receiver.errors;
    if (driver.name !== 'node:http') {
      expect(error).toBeInstanceOf(BackpressureError);
      expect((error as BackpressureError).code).toBe('ERR_WBP_BODY_READ');
    } else {
      expect(String(warning.mock.calls[0]?.[0])).toContain('ERR_WBP_BODY_READ');
    }
    expect(receiver.inbox.snapshot().totals.stored).toBe(0);
  });

  it('accepts an empty body that was consumed before', async () => {
    const receiver = await start({}, true);
    const answer = await receiver.post('', { 'content-type': 'application/json' });
    // A web-standard request does not tell a consumed body from an empty one.
    expect(answer.status).toBe(/^(Hono|web)/.test(driver.name) ? 500 : 200);
  });

  it('passes on the error that an option throws', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const id = (): never => {
      throw new Error('no id');
    };
    const receiver = await start({ id });
    expect((await receiver.post('{}')).status).toBe(500);
    if (driver.name !== 'node:http')
      expect(receiver.errors).toEqual([expect.objectContaining({ message: 'no id' })]);
  });

  it('passes on the error when its answer cannot be written', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const receiver = await start({ handshake: () => ({ status: 99, body: '' }) });
    expect((await receiver.post('{}')).status).toBe(500);
  });

  it('refuses with Retry-After when it is full', async () => {
    const receiver = await start({
      capacity: 1,
      process: () => new Promise(() => undefined),
      random: () => 0,
    });
    expect((await receiver.post('{}')).status).toBe(200);
    const refused = await receiver.post('x'.repeat(200_000));
    expect(await shown(refused)).toEqual([
      503,
      'application/problem+json; charset=utf-8',
      '3',
      expect.stringContaining('"reason":"full","retryAfterSeconds":3}'),
    ]);
  });

  it('refuses when the commit fails', async () => {
    const store = memoryStore();
    store.put = () => Promise.reject(new Error('disk full'));
    const receiver = await start({ store });
    const answer = await receiver.post('{}');
    expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
  });

  it('stores nothing when the sender disconnects in the middle of a body', async () => {
    const receiver = await start();
    const arrived = once(receiver.server, 'request');
    const socket = await receiver.dial();
    socket.write('POST /webhooks HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf');
    const [request] = (await arrived) as [NodeJS.EventEmitter];
    const closed = new Promise((resolve) => request.once('close', resolve));
    socket.destroy();
    await closed;
    expect((await receiver.post('{}')).status).toBe(200);
    expect(receiver.inbox.snapshot().totals.stored).toBe(1);
  });

  it('accepts what has arrived while its store opened, unless the sender has disconnected', async () => {
    const { store, open } = slowStore();
    const receiver = await start({ store });
    const { inbox, server } = receiver;
    for (const rest of [
      'Content-Length: 100\r\n\r\nhalf',
      'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    ]) {
      const arrived = once(server, 'request');
      const socket = await receiver.dial();
      socket.write(`POST /webhooks HTTP/1.1\r\nHost: a\r\n${rest}`);
      const [request] = (await arrived) as [NodeJS.EventEmitter];
      const closed = new Promise((resolve) => request.once('close', resolve));
      socket.destroy();
      await closed;
    }
    const answers = [receiver.post('{}'), receiver.post('')];
    while (inbox.snapshot().totals.arrivals < 4) await new Promise((resolve) => setImmediate(resolve));
    open();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    expect(inbox.snapshot().totals).toMatchObject({ arrivals: 4, stored: 2 });
  });

  it('answers before the sender times out when its body does not end', async () => {
    const clock = manualClock();
    const receiver = await start({ clock });
    const arrived = once(receiver.server, 'request');
    const socket = await receiver.dial();
    socket.write(
      'POST /webhooks HTTP/1.1\r\nHost: a\r\nX-Slack-Signature: v0\r\nContent-Length: 100\r\n\r\nhalf',
    );
    await arrived;
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3000);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 503 /);
    expect(String(answer)).toMatch(/retry-after: \d+/i);
  });

  it('refuses while it closes, with Connection: close', async () => {
    const receiver = await start();
    await receiver.inbox.close();
    const answer = await receiver.post('{}');
    expect([answer.status, (JSON.parse(await answer.text()) as { reason: string }).reason]).toEqual([
      503,
      'closing',
    ]);
  });
}

describe.each(inboxDrivers)('webhookInbox on $name', suite);

describe('webhookInbox on Express', () => {
  it('accepts the bytes that express.raw has read', async () => {
    const [, , express] = inboxDrivers;
    if (express === undefined) throw new Error('no Express');
    const handled: string[] = [];
    const receiver = new InboxReceiver(express, { process: ({ text }) => void handled.push(text()) });
    // As express.raw leaves the body.
    receiver.server.prependListener('request', (req: { body?: unknown }) => {
      req.body = Buffer.from('kept');
    });
    await receiver.start();
    const completed = receiver.next('completed');
    expect((await receiver.post('read')).status).toBe(200);
    await completed;
    expect(handled).toEqual(['kept']);
  });
});
