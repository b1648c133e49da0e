import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from './app.ts';
import { exampleWith, versions } from './versions.ts';

describe.each(versions)('Nest %s', (version) => {
  let folder: string;
  beforeAll(() => {
    folder = exampleWith(version);
  }, 120_000);
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('runs the test of the page', () => {
    execFileSync(process.execPath, ['--test', join(folder, 'express/refusal.test.js')]);
  });

  describe.each(['express', 'fastify'])('on %s', (platform) => {
    let app: App;
    beforeAll(async () => {
      app = await new App(join(folder, 'app.mjs'), platform).listening();
    }, 60_000);
    afterAll(() => {
      app.process.kill('SIGKILL');
    });

    it('runs the inbox, whose handler is a provider', async () => {
      const inbox = await new App(join(folder, platform, 'inbox.js')).listening();
      const answer = await accepted(() => inbox.post('/webhooks'));
      expect(await answer.json()).toMatchObject({ status: 'accepted' });
      expect(await inbox.line()).toBe('handled {"a":1}');
      const ended = once(inbox.process, 'exit');
      inbox.process.kill('SIGTERM');
      expect(await ended).toEqual([null, 'SIGTERM']);
    });

    it('refuses before the body is parsed, and without the filters and interceptors of Nest', async () => {
      const first = app.post('/webhooks/hold');
      expect(await app.line()).toBe('holding');
      const second = app.post('/webhooks/hold');
      expect(await app.line()).toBe('queued');
      expect(await app.postHeaders('/webhooks/hold')).toBe(503);
      const refused = await app.post('/webhooks/hold');
      expect(refused.status).toBe(429);
      expect(refused.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({ reason: 'full' });
      await app.release();
      expect((await first).status).toBe(201);
      expect((await app.lines(2)).sort()).toEqual(['done', 'holding']);
      await app.release();
      expect((await second).status).toBe(201);
      expect(await app.line()).toBe('done');
    });

    it('frees the worker when the handler throws, and when it responds itself', async () => {
      for (const attempt of [1, 2]) {
        const failed = await app.post('/webhooks/fail');
        expect([attempt, failed.status, await failed.text()]).toEqual([attempt, 418, 'filtered']);
        expect(await app.line()).toBe('filter 418');
        const own = await app.post('/webhooks/own');
        expect([own.status, await own.text()]).toEqual([202, 'own']);
      }
    });

    it('keeps the worker occupied when an interceptor responds before the handler has ended', async () => {
      expect((await app.post('/webhooks/late')).status).toBe(408);
      expect(await app.line()).toBe('filter 408');
      const next = app.post('/webhooks/own');
      expect(await app.line()).toBe('queued');
      await app.release();
      expect(await app.line()).toBe('late work done');
      expect((await next).status).toBe(202);
    });

    it('finishes queued deliveries on SIGTERM before it closes the database', async () => {
      const first = app.post('/webhooks/hold');
      expect(await app.line()).toBe('holding');
      const second = app.post('/webhooks/hold');
      expect(await app.line()).toBe('queued');
      app.process.kill('SIGTERM');
      expect(await app.line()).toBe('closing');
      const late = await app.post('/webhooks/hold');
      expect([late.status, await late.json()]).toEqual([503, expect.objectContaining({ reason: 'closing' })]);
      expect((await app.get('/ready')).status).toBe(503);
      await app.release();
      expect((await app.lines(2)).sort()).toEqual(['done', 'holding']);
      await app.release();
      expect(await Promise.all([first, second].map(async (answer) => (await answer).status))).toEqual([
        201, 201,
      ]);
      expect(await app.lines(2)).toEqual(['done', 'database closed']);
      expect(await once(app.process, 'exit')).toEqual([null, 'SIGTERM']);
    });
  });
});

/** An inbox refuses deliveries until its store is open. */
async function accepted(send: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    await answer.body?.cancel();
  }
}
