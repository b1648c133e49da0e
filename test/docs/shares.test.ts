import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { describe, expect, it } from 'vitest';
import { createIntake } from '@webhook-backpressure/core';
import { until } from '@webhook-backpressure/core/testing';
import { webhookBackpressure } from '@webhook-backpressure/express';
import {
  type Inbox,
  type InboxOptions,
  memoryStore,
  type StoredDelivery,
  webhookInbox,
} from '@webhook-backpressure/express/inbox';
import { createBench, exponential, seeded } from '../core/harness.ts';
import { arrivals, type Handled, percentile, runUntil, Workshop } from '../core/workshop.ts';
import { page, sectionOf, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';

const [block] = tokensOf('code', sectionOf(page('docs/options.md'), 'Shares of keys'));
const app = { use: () => undefined, post: () => undefined };
const pass: RequestHandler = (_req, _res, next) => {
  next();
};
const NO_MOUNTS = { app, options: {}, webhookBackpressure: () => pass, webhookInbox: () => pass };

/** Runs the recipe with these names, and returns its `keyOf`. */
function recipe(names: object = {}): KeyOf {
  return runBlock(block?.text ?? '', {}, { ...NO_MOUNTS, ...names }, 'keyOf') as KeyOf;
}

const SECONDS = 60;
const OTHERS = ['b', 'c', 'd', 'e'];
type KeyOf = (tenant: string, id: string) => string;
const byTenant: KeyOf = (tenant) => tenant;

interface Contest {
  readonly acme: number;
  readonly others: number;
  readonly keyOf: KeyOf;
}

interface Outcome {
  /** The starts of acme ÷ the mean of the others. */
  readonly share: number;
  readonly refusedOthers: number;
  /** The 99th percentile of the waits of the others, in milliseconds. */
  readonly p99Ms: number;
  readonly promises: { readonly kept: number; readonly missed: number };
}

/** Ten workers of 100 ms on average, so 100/s, and senders that retry after the time that they are given. */
async function contend({ acme, others, keyOf }: Contest): Promise<Outcome> {
  const random = seeded(1);
  const retryAfter = { strategy: 'booked' } as const;
  const bench = createBench({ concurrency: 10, capacity: 400, maxWaitMs: 4000, retryAfter, random });
  const workshop = new Workshop(bench, () => exponential(random, 100));
  let refusedOthers = 0;
  let count = 0;
  const bring = (tenant: string, id: string): void => {
    const refusal = workshop.bring({ key: keyOf(tenant, id), id });
    if (refusal === undefined) return;
    if (tenant !== 'acme') refusedOthers += 1;
    bench.clock.setTimeout(() => {
      bring(tenant, id);
    }, refusal.retryAfterSeconds * 1000);
  };
  for (const tenant of ['acme', ...OTHERS]) {
    const gapMs = 1000 / (tenant === 'acme' ? acme : others);
    const arrive = (): void => {
      count += 1;
      bring(tenant, `msg_${String(count)}`);
    };
    arrivals(bench.clock, SECONDS * 1000, () => exponential(random, gapMs), arrive);
  }
  await runUntil(bench.clock, SECONDS * 1000);
  const [own, rest] = [true, false].map((isAcme) =>
    workshop.handled.filter(({ key }) => key.startsWith('acme') === isAcme),
  ) as [Handled[], Handled[]];
  return {
    share: (own.length * OTHERS.length) / rest.length,
    refusedOthers,
    p99Ms: percentile(
      rest.map(({ waitedMs }) => waitedMs),
      0.99,
    ),
    promises: bench.intake.snapshot().totals.promises,
  };
}

describe('shares of keys', () => {
  it('are equal, whatever each key sends', async () => {
    expect((await contend({ acme: 60, others: 60, keyOf: byTenant })).share).toBeCloseTo(1, 1);
    expect((await contend({ acme: 180, others: 30, keyOf: byTenant })).share).toBeCloseTo(1, 1);
  });

  it('protect the others from a flooding tenant', async () => {
    const { refusedOthers, p99Ms } = await contend({ acme: 400, others: 10, keyOf: byTenant });
    expect(refusedOthers).toBe(0);
    expect(p99Ms).toBeLessThan(150);
  });

  it.each([
    { acme: 60, others: 60 },
    { acme: 180, others: 30 },
  ])('are three times as large for three keys, $acme and $others per second', async (rates) => {
    const { share, promises } = await contend({ ...rates, keyOf: recipe() });
    expect(share / 3).toBeGreaterThan(0.95);
    expect(share / 3).toBeLessThan(1.05);
    expect(keptOf(promises)).toBeGreaterThan(0.97);
    expect(keptOf((await contend({ ...rates, keyOf: byTenant })).promises)).toBeGreaterThan(0.97);
  });

  it('are those of the path and the id, behind the middleware', async () => {
    const app = express();
    const intake = createIntake();
    const keys: string[] = [];
    intake.subscribe((event) => {
      if (event.type === 'started') keys.push(event.key);
    });
    const mounted = (options: object): unknown => webhookBackpressure({ ...options, intake });
    recipe({ app, webhookBackpressure: mounted });
    app.use((_req, res) => res.end());
    await postAll(app, 'webhooks');
    expect(keys).toEqual(KEYS);
  });

  it('are those of the path and the id, in an inbox', async () => {
    const app = express();
    let inbox: Inbox | undefined;
    const keys: string[] = [];
    const mounted = (options: InboxOptions): unknown => {
      const webhooks = webhookInbox(options);
      ({ inbox } = webhooks);
      return webhooks;
    };
    const work = ({ key }: StoredDelivery): void => void keys.push(key);
    const options = { store: memoryStore(), verify: false, process: work };
    recipe({ app, options, webhookInbox: mounted });
    await postAll(app, 'inbox');
    await until(inbox as Inbox, ({ totals }) => totals.completed === KEYS.length);
    expect(keys.toSorted()).toEqual(KEYS);
    await inbox?.close();
  });

  it('give a retry the key of its first attempt', () => {
    const keyOf = recipe();
    expect(keyOf('acme', 'msg_1')).toBe(keyOf('acme', 'msg_1'));
    expect(new Set(['msg_1', 'msg_2', 'msg_3', 'msg_4'].map((id) => keyOf('acme', id))).size).toBe(3);
    expect(keyOf('b', 'msg_1')).toBe(keyOf('b', 'msg_2'));
  });
});

const KEYS = ['acme-0', 'acme-1', 'acme-2', 'b-0'];

/** Sends one delivery for each of {@link KEYS}. */
async function postAll(app: express.Express, folder: string): Promise<void> {
  const server = app.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const [tenant, id] of [
    ['acme', 'c'],
    ['acme', 'd'],
    ['acme', 'e'],
    ['b', 'd'],
  ] as const) {
    const url = `http://localhost:${String(port)}/${folder}/${tenant}`;
    expect((await fetch(url, { method: 'POST', headers: { 'webhook-id': id } })).ok).toBe(true);
  }
  server.close();
}

/** The part of the retries on time that were admitted. */
function keptOf({ kept, missed }: Outcome['promises']): number {
  return kept / (kept + missed);
}
