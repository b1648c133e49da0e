import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { getRequestListener } from '@hono/node-server';
import { beginDraining, createReadiness, isProbed } from '@webhook-backpressure/core/middleware';
import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { type Closable, createIntake, type Intake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { readiness as forExpress } from '@webhook-backpressure/express';
import { readiness as forHono } from '@webhook-backpressure/hono';
import { readiness as forKoa } from '@webhook-backpressure/koa';
import { readiness as forNode } from '@webhook-backpressure/node';
import express from 'express';
import { Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, it } from 'vitest';
import { Sender } from '../conformance/sender.ts';
import { occupy } from '../core/harness.ts';

function inbox(): Closable {
  return createInbox({ store: memoryStore(), process: () => undefined, verify: false });
}

describe('readiness', () => {
  it('is ready while deliveries are accepted, also while shedding or stalled', () => {
    const clock = manualClock();
    const intake = createIntake({ clock, capacity: 2, concurrency: 1, maxWaitMs: 60_000 });
    const probe = createReadiness(intake);
    expect(probe.status()).toBe('ready');
    occupy(intake);
    for (let i = 0; i < 5; i += 1) intake.admit();
    expect([intake.snapshot().state, probe.status()]).toEqual(['shedding', 'ready']);
    clock.advance(15_000);
    expect([intake.snapshot().state, probe.status()]).toEqual(['stalled', 'ready']);
  });

  it('is that of the source whose shutdown has advanced furthest', async () => {
    const sources = [createIntake(), inbox(), createIntake()];
    const probe = createReadiness(sources);
    expect(probe.status()).toBe('ready');
    const [first, second] = sources as [Intake, Closable];
    beginDraining(second);
    expect(probe.status()).toBe('draining');
    // Draining affects only the probe.
    expect(first.admit().admitted).toBe(true);
    void first.close();
    expect(probe.status()).toBe('closing');
    await second.close();
    expect(probe.status()).toBe('closing');
  });

  it('marks its sources as probed', () => {
    const [probedIntake, other] = [createIntake(), createIntake()];
    createReadiness([probedIntake]);
    expect([isProbed(probedIntake), isProbed(other)]).toEqual([true, false]);
  });

  it.each([[[]], [undefined], [{ intake: createIntake() }], [[createIntake(), 'intake']]])(
    'throws for %o',
    (sources) => {
      const mistake = expect.objectContaining({ code: 'ERR_WBP_READINESS' }) as Error;
      for (const make of [createReadiness, forNode, forExpress, forKoa, forHono]) {
        expect(() => make(sources as never)).toThrow(mistake);
      }
    },
  );
});

const listeners: [string, (intake: Intake) => RequestListener][] = [
  ['node:http', (intake) => forNode(intake)],
  ['Express', (intake) => express().get('/', forExpress(intake))],
  ['Koa', (intake) => new Koa().use(forKoa(intake)).callback()],
  ['Hono', (intake) => getRequestListener(new Hono().get('/', forHono(intake)).fetch)],
];

describe.each(listeners)('the probe on %s', (_name, listenerOf) => {
  it('responds to GET and HEAD with the status and without caching', async () => {
    const intake = createIntake();
    const server = createServer(listenerOf(intake)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sender = new Sender();
    const ask = async (method: string): Promise<unknown> => {
      const { status, body, headers } = await sender.send(port, { method }).reply;
      return [status, body, headers['cache-control'], headers['content-type']];
    };
    const type = 'application/json; charset=utf-8';
    expect(await ask('GET')).toEqual([200, '{"status":"ready"}', 'no-store', type]);
    expect(await ask('HEAD')).toEqual([200, '', 'no-store', type]);
    beginDraining(intake);
    expect(await ask('GET')).toEqual([503, '{"status":"draining"}', 'no-store', type]);
    void intake.close();
    expect(await ask('GET')).toEqual([503, '{"status":"closing"}', 'no-store', type]);
    sender.destroy();
    server.close();
  });
});
