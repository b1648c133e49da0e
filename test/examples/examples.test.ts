import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { built } from './built.ts';
import { isRedisSkipped, redisUrl } from '../redis/bed.ts';

const examples = readdirSync(`${root}/examples`).filter((name) => name.endsWith('.js'));
/** They need a server, or are tested separately. */
const withServer = [
  'bullmq.js',
  'function-receiver.js',
  'function-worker.js',
  'receiver.js',
  'sender.js',
  'worker.js',
];
const withoutServer = examples.filter((name) => !withServer.includes(name));

let child: ChildProcess | undefined;

// The examples import the built packages, as users do. This is quick if they are up to date.
beforeAll(built, 120_000);

afterEach(() => child?.kill('SIGKILL'));

it('has an example for each framework and for the inbox', () => {
  const without = ['express.js', 'fastify.js', 'hono.js', 'inbox.js', 'koa.js', 'node-http.js'];
  expect(examples.sort()).toEqual([...withServer, ...without].sort());
});

describe('inbox.js', () => {
  it('acknowledges a delivery once it is stored, processes it, has no live page without a password, and resumes after being killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inbox-example-'));
    const variables = { DATABASE: join(folder, 'webhooks.db') };
    const { process: started, lines } = start('inbox.js', variables);
    const [url] = (await once(lines, 'line')) as [string];
    const handled = once(lines, 'line');
    const headers = { 'webhook-id': 'a' };
    const answer = await fetch(url, { method: 'POST', body: '{"type":"order.created"}', headers });
    expect([answer.status, await answer.json()]).toEqual([200, { id: 'a', status: 'accepted' }]);
    expect((await handled)[0]).toBe('attempt 1 at a: {"type":"order.created"}');
    expect((await fetch(new URL('/backpressure', url))).status).toBe(404);
    const killed = once(started, 'exit');
    started.kill('SIGKILL');
    await killed;

    const again = start('inbox.js', variables);
    // If the process died before the completion was stored, the delivery is processed again, maybe before the address is printed.
    let next = '';
    while (!next.startsWith('http')) [next] = (await once(again.lines, 'line')) as [string];
    const repeated = await fetch(next, { method: 'POST', body: '{}', headers });
    expect([repeated.status, await repeated.json()]).toEqual([200, expect.objectContaining({ id: 'a' })]);
    const ended = once(again.process, 'exit');
    again.process.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    rmSync(folder, { recursive: true });
  }, 30_000);
});

describe('sender.js', () => {
  it('stores an event, sends it signed, exports metrics, and ends on SIGTERM', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sender-example-'));
    const received = new EventEmitter();
    const receiver = createHttpServer((req, res) => {
      void text(req).then((body) => {
        res.writeHead(204).end();
        received.emit('event', req.headers, body);
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const { process: started, lines } = start('sender.js', {
      ENDPOINT: `http://127.0.0.1:${String(port)}/webhooks`,
      OUTBOX: join(folder, 'outbox.db'),
    });
    const [url] = (await once(lines, 'line')) as [string];
    const event = once(received, 'event') as Promise<[Record<string, string>, string]>;
    const answer = await fetch(url);
    const result = (await answer.json()) as { id: string };
    expect([answer.status, result]).toEqual([202, { id: expect.any(String) as string, status: 'accepted' }]);
    const [headers, body] = await event;
    expect(headers['webhook-id']).toBe(result.id);
    expect(headers['webhook-signature']).toMatch(/^v1,/);
    expect(JSON.parse(body)).toMatchObject({ type: 'order.updated', data: { path: '/orders/1' } });
    const metrics = await fetch(new URL('/metrics', url));
    expect(await metrics.text()).toMatch(/^webhook_outbox_\w+/m);

    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    receiver.closeAllConnections();
    receiver.close();
    rmSync(folder, { recursive: true });
  }, 30_000);
});

describe.skipIf(isRedisSkipped)('bullmq.js', () => {
  it('acknowledges a delivery once its job is stored, and a worker processes it once', async () => {
    const { hostname, port } = new URL(redisUrl);
    const { process: started, lines } = start('bullmq.js', { REDIS_HOST: hostname, REDIS_PORT: port });
    const [url] = (await once(lines, 'line')) as [string];
    const handled = once(lines, 'line');
    const headers = { 'webhook-id': 'a' };
    const send = async (): Promise<unknown[]> => {
      const answer = await fetch(url, { method: 'POST', body: '{"type":"order.created"}', headers });
      return [answer.status, (await answer.json()) as unknown];
    };
    // Until the queue is connected, it refuses.
    await expect.poll(send, { timeout: 20_000 }).toEqual([200, { id: 'a', status: 'accepted' }]);
    expect((await handled)[0]).toBe('attempt 1 at a: {"type":"order.created"}');
    expect(await send()).toEqual([200, { id: 'a', status: 'duplicate' }]);
    const metrics = await fetch(new URL('/metrics', url));
    expect(await metrics.text()).toMatch(/^webhook_inbox_queue_depth \d+$/m);

    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
  }, 30_000);
});

describe.each(withoutServer.filter((name) => name !== 'inbox.js'))('%s', (example) => {
  it('processes a delivery on the given port, has no live page without a password, and ends on SIGTERM', async () => {
    // An empty password is none.
    const { process: started, lines } = start(example, example === 'express.js' ? { PAGE_PASSWORD: '' } : {});
    const [url] = (await once(lines, 'line')) as [string];
    expect(url).toMatch(/^http:\/\/localhost:\d+\/webhooks$/);

    const handled = once(lines, 'line');
    // Bytes get no Content-Type: some senders omit it, and some body parsers then skip the body.
    const body = new TextEncoder().encode('{"type":"order.created"}');
    const answer = await fetch(url, { method: 'POST', body });
    expect(answer.status).toBe(204);
    // Only the middleware can provide waitedMs, so it is mounted.
    expect((await handled)[0]).toMatch(/^waited \d+(\.\d+)? ms: {"type":"order.created"}$/);
    expect((await fetch(new URL('/elsewhere', url), { method: 'POST' })).status).toBe(404);
    expect((await fetch(new URL('/backpressure', url))).status).toBe(404);

    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
  }, 30_000);
});

describe.each(withoutServer)('%s', (example) => {
  it('exports metrics, serves the live page to the operator only, and ends while the page is open', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'example-'));
    const { process: started, lines } = start(example, {
      DATABASE: join(folder, 'webhooks.db'),
      PAGE_PASSWORD: 'secret',
    });
    const [url] = (await once(lines, 'line')) as [string];
    const handled = once(lines, 'line');
    await fetch(url, { method: 'POST', body: '{}' });
    await handled;
    const metrics = await fetch(new URL('/metrics', url));
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await metrics.text()).toMatch(/^webhook_(intake|inbox)_queue_depth \d+$/m);

    const page = new URL('/backpressure', url);
    const unauthorized = await fetch(page);
    expect([unauthorized.status, unauthorized.headers.get('www-authenticate')]).toEqual([401, 'Basic']);
    const headers = { authorization: `Basic ${btoa('operator:secret')}` };
    const operator = await fetch(page, { headers });
    expect(operator.status).toBe(200);
    expect(await operator.text()).toContain('<title>webhook-backpressure</title>');
    const events = await fetch(`${page.href}/events`, { headers });
    expect(events.headers.get('content-type')).toContain('text/event-stream');

    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    await events.body?.cancel().catch(() => undefined);
    rmSync(folder, { recursive: true });
  }, 30_000);
});

function start(
  example: string,
  variables: Record<string, string> = {},
): { process: ChildProcess; lines: Interface } {
  const started = spawn(process.execPath, [`examples/${example}`], {
    cwd: root,
    env: { ...process.env, PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  return { process: started, lines: createInterface({ input: started.stdout }) };
}
