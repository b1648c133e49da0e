import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { webhookBackpressure } from '@webhook-backpressure/express';
import express, { type Response } from 'express';
import { page, tokensOf } from '../docs/pages.ts';
import { findNginx, Nginx, type Answer, type NginxProgram } from './nginx.ts';

const [LINES = ''] = tokensOf('code', page('docs/production.md').tokens)
  .filter(({ lang }) => lang === 'nginx')
  .map(({ text }) => text);
const UNBUFFERED = LINES.replace('proxy_http_version', 'proxy_request_buffering off; proxy_http_version');
const LARGE = Buffer.alloc(20_000_000);

const found = await findNginx().catch((error: unknown) => String(error));
if (typeof found === 'string') console.warn(`SKIPPED: the tests of nginx. ${found}`);

/** Behind nginx: an app with one worker, two places and handlers that the test ends. */
describe.skipIf(typeof found === 'string')('an app behind nginx, as docs/production.md configures it', () => {
  let nginx: Nginx;
  let server: Server;
  let intake: ReturnType<typeof webhookBackpressure>['intake'];
  let held: Response[];
  /** What the app answered, before nginx. */
  let answered: Pick<Answer, 'status' | 'headers'>[];
  let connections: number;

  beforeEach(() => {
    nginx = new Nginx();
    held = [];
    answered = [];
    connections = 0;
  });
  afterEach(async () => {
    for (const res of held) res.destroy();
    await nginx.stop();
    server.close();
    server.closeAllConnections();
  });

  async function start(lines: string, key?: string): Promise<void> {
    const backpressure = webhookBackpressure({
      concurrency: 1,
      capacity: 2,
      highWaterMark: 0.5,
      lowWaterMark: 0.4,
      keyGenerator: () => key,
    });
    intake = backpressure.intake;
    const app = express();
    app.use((_req, res, next) => {
      res.once('finish', () => {
        answered.push({ status: res.statusCode, headers: { 'retry-after': String(res.get('retry-after')) } });
      });
      next();
    });
    app.use('/webhooks', backpressure);
    app.post('/webhooks', (req, res) => {
      req.resume();
      held.push(res);
    });
    server = app.listen(0, '127.0.0.1').on('connection', () => (connections += 1));
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await nginx.start(found as NginxProgram, lines.replace('127.0.0.1:3000', `127.0.0.1:${String(port)}`));
  }

  /** Waits for an event of the intake. */
  const event = (type: string): Promise<void> =>
    new Promise((resolve) => {
      const stop = intake.subscribe((one) => {
        if (one.type !== type) return;
        stop();
        resolve();
      });
    });

  /** Occupies the worker and the place below the high-water mark. */
  async function fill(): Promise<Promise<Answer>[]> {
    const started = event('started');
    const first = nginx.post();
    await started;
    const queued = event('queued');
    const second = nginx.post();
    await queued;
    return [first, second];
  }

  /** Ends the handlers, one after the other, until all are answered. */
  async function endAll(all: readonly Promise<Answer>[]): Promise<Answer[]> {
    const ending = setInterval(() => held.shift()?.end('done'), 5);
    const answers = await Promise.all(all);
    clearInterval(ending);
    return answers;
  }

  it.each([
    [503, undefined],
    [429, 'tenant'],
  ])('passes %i with its Retry-After and body on unchanged', async (status, key) => {
    await start(LINES, key);
    const waiting = await fill();
    const answer = await nginx.post();
    expect(answer).toMatchObject({
      status,
      headers: {
        'retry-after': answered[0]?.headers['retry-after'],
        'content-type': 'application/problem+json; charset=utf-8',
        'cache-control': 'no-store',
      },
    });
    expect(JSON.parse(answer.body)).toMatchObject({
      reason: 'shedding',
      retryAfterSeconds: Number(answer.headers['retry-after']),
    });
    expect((await endAll(waiting)).map((one) => one.status)).toEqual([200, 200]);
  });

  it('answers every delivery of a burst itself', async () => {
    await start(LINES);
    const answers = await endAll(Array.from({ length: 50 }, () => nginx.post()));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    for (const { status, headers } of answers)
      if (status === 503) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(statuses.toSorted()).toEqual(answered.map(({ status }) => status).toSorted());
  });

  it.each([
    ['', LINES],
    [', without request buffering', UNBUFFERED],
  ])('sends the refusal of a large upload completely%s', async (_, lines) => {
    await start(lines.replace('client_max_body_size 1m', 'client_max_body_size 100m'));
    const waiting = await fill();
    for (let count = 0; count < 3; count += 1) {
      const { status, body } = await nginx.post({}, LARGE);
      expect(status).toBe(503);
      expect(JSON.parse(body)).toMatchObject({ reason: 'shedding' });
    }
    await endAll(waiting);
  });

  it('answers 413 as HTML, without Retry-After and without asking the app, if a body is larger than its limit', async () => {
    await start(LINES);
    const { status, headers, body } = await nginx.post({}, Buffer.alloc(1_048_577));
    expect([status, headers['content-type'], headers['retry-after']]).toEqual([413, 'text/html', undefined]);
    expect(body).toContain('nginx');
    expect([answered, held]).toEqual([[], []]);
  });

  it('answers 504 and 502 as HTML and without Retry-After, if the app is late or cuts the connection', async () => {
    await start(LINES.replace('proxy_read_timeout 60s', 'proxy_read_timeout 500ms'));
    const late = await nginx.post();
    held.shift()?.end();
    const started = event('started');
    const cut = nginx.post();
    await started;
    while (held.length === 0) await new Promise(setImmediate);
    held[0]?.destroy();
    for (const [status, answer] of [[504, late] as const, [502, await cut] as const]) {
      const { headers } = answer;
      expect([answer.status, headers['content-type'], headers['retry-after']]).toEqual([
        status,
        'text/html',
        undefined,
      ]);
    }
  });

  it('lets a delivery leave the queue when its sender hangs up', async () => {
    await start(LINES);
    const started = event('started');
    const first = nginx.post();
    await started;
    const queued = event('queued');
    const sent = nginx.begin();
    sent.on('error', () => undefined).end('{}');
    await queued;
    const withdrawn = event('withdrawn');
    sent.destroy();
    await withdrawn;
    expect(intake.snapshot()).toMatchObject({ depth: 0, totals: { withdrawn: { abandoned: 1 } } });
    await endAll([first]);
  });

  it('closes idle connections before the app does, if the times are in the order of the page', async () => {
    // 60 s and 65 s, two hundred times as fast.
    await start(LINES.replace('keepalive_timeout 60s', 'keepalive_timeout 300ms'));
    server.keepAliveTimeout = 2000;
    const closed = new Promise<string>((resolve) => {
      server.once('connection', (socket) => {
        socket.once('end', () => {
          resolve('by nginx');
        });
        socket.once('close', () => {
          resolve('by the app');
        });
      });
    });
    await endAll([nginx.post()]);
    await endAll([nginx.post()]);
    expect(connections).toBe(1);
    expect(await closed).toBe('by nginx');
  });
});
