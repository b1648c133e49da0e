import { describe, expect, it } from 'vitest';
import type { MiddlewareOptions } from '@webhook-backpressure/core';
import { createBench, exponential, seeded } from '../core/harness.ts';
import { arrivals, type Handled, percentile, runUntil, Workshop } from '../core/workshop.ts';
import { page, sectionOf, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';

interface Request {
  readonly params: { readonly tenant: string };
  readonly get: (name: string) => string;
}

/** The `keyGenerator` of the recipe. */
function recipe(): (tenant: string, id: string) => string {
  const [block] = tokensOf('code', sectionOf(page('docs/options.md'), 'Shares of keys'));
  let options: MiddlewareOptions<Request> = {};
  runBlock(block?.text ?? '', {}, { webhookBackpressure: (given: typeof options) => (options = given) });
  return (tenant, id) => options.keyGenerator?.({ params: { tenant }, get: () => id }) ?? '';
}

const SECONDS = 120;
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

  it('give a retry the key of its first attempt', () => {
    const keyOf = recipe();
    expect(keyOf('acme', 'msg_1')).toBe(keyOf('acme', 'msg_1'));
    expect(new Set(['msg_1', 'msg_2', 'msg_3', 'msg_4'].map((id) => keyOf('acme', id))).size).toBe(3);
    expect(keyOf('b', 'msg_1')).toBe(keyOf('b', 'msg_2'));
  });
});

/** The part of the retries on time that were admitted. */
function keptOf({ kept, missed }: Outcome['promises']): number {
  return kept / (kept + missed);
}
