import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer, request, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { withBackpressure } from '@webhook-backpressure/node';
import express, { type Express, type RequestHandler } from 'express';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

const servers: Server[] = [];
const large = (): NodeJS.ReadableStream => createReadStream('/dev/zero', { end: 50 * 1024 * 1024 });

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterAll(() => {
  vi.useRealTimers();
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function serve(app: RequestListener): Promise<number> {
  const server = createServer(app).listen(0);
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setImmediate();
}

/** Express does not report when a handler has ended. These handlers do not call `end` once the sender has disconnected. */
describe('an Express handler whose sender disconnects within the response', () => {
  function app(intake: Intake, handler: RequestHandler): Express {
    const created = express();
    created.use('/', webhookBackpressure({ intake }), handler);
    created.use(((_error, _req, _res, next) => {
      next();
    }) as express.ErrorRequestHandler);
    return created;
  }

  async function hangUp(port: number): Promise<void> {
    const call = request({ port, method: 'POST' });
    call.on('error', () => undefined);
    call.end('{}');
    const [incoming] = (await once(call, 'response')) as [NodeJS.ReadableStream];
    incoming.on('error', () => undefined);
    call.destroy();
  }

  it.each<[string, RequestHandler]>([
    ['pipes', (_req, res) => void large().pipe(res)],
    ['awaits a pipeline', (_req, res) => pipeline(large(), res)],
  ])('frees its worker immediately when it %s', async (_how, handler) => {
    const intake = createIntake({ concurrency: 1 });
    await hangUp(await serve(app(intake, handler)));
    await until(() => intake.snapshot().totals.failed === 1);
  });

  it('frees its worker after bodyTimeoutMs when it stops writing', async () => {
    const intake = createIntake({ concurrency: 1 });
    let hasClosed = false;
    await hangUp(
      await serve(
        app(intake, (_req, res) => {
          res.write('event');
          res.on('close', () => (hasClosed = true));
        }),
      ),
    );
    await until(() => hasClosed);
    expect(intake.snapshot().active).toBe(1);
    vi.advanceTimersByTime(5000);
    expect(intake.snapshot()).toMatchObject({ active: 0, drainRate: null, totals: { failed: 1 } });
  });
});

describe('an intake around another one', () => {
  it('frees its worker when the sender disconnects while it waits in the inner one', async () => {
    const [outer, inner] = [createIntake({ concurrency: 4 }), createIntake({ concurrency: 1 })];
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const app = express();
    app.use(webhookBackpressure({ intake: inner }));
    app.post('/', (_req, res) => void res.send('done'));
    const port = await serve(withBackpressure(app, { intake: outer }));
    const first = inner.admit();
    const call = request({ port, method: 'POST' });
    call.on('error', () => undefined);
    call.end('{}');
    await until(() => inner.snapshot().depth === 1);
    call.destroy();
    await until(() => outer.snapshot().active === 0);
    expect(outer.snapshot().totals.failed).toBe(1);
    if (first.admitted && 'release' in first.permit) first.permit.release();
    warn.mockRestore();
  });
});
