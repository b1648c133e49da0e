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

  describe.each(['express', 'fastify'])('on %s', (platform) => {
    let app: App;
    beforeAll(async () => {
      app = await new App(join(folder, platform, 'main.js')).listening();
    }, 60_000);
    afterAll(() => {
      app.process.kill('SIGKILL');
    });

    it('handles a delivery, with its raw body and the key of its tenant', async () => {
      expect((await app.post('/webhooks')).status).toBe(204);
      expect(await app.line()).toMatch(/^shop waited \d+(\.\d+)? ms: {"a":1}$/);
    });

    it('handles a body of more than 100 kB', async () => {
      const body = JSON.stringify({ text: 'x'.repeat(500_000) });
      expect((await app.post('/webhooks', { body })).status).toBe(204);
      expect(await app.line()).toContain(body);
    });

    it('responds with 401 when the guard rejects the API key', async () => {
      expect((await app.post('/webhooks', { key: 'guessed' })).status).toBe(401);
    });

    it('ends on SIGTERM by the signal', async () => {
      expect((await app.get('/ready')).status).toBe(200);
      const ended = once(app.process, 'exit');
      app.process.kill('SIGTERM');
      expect(await ended).toEqual([null, 'SIGTERM']);
    });
  });
});
