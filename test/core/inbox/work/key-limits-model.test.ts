import { type InboxOptions, memoryStore, RetryAfter } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { fractionOfRate, TokenLevel } from '@webhook-backpressure/fleet';
import { InboxBench, turns } from '../inbox-bench.ts';
import { isLong } from '../../../long.ts';
import { START } from '../store/cases/store-fixtures.ts';

/** A number from 0 to below 1, by a linear congruential generator. */
function seeded(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SEEDS = isLong ? 20 : 1;
const STEP_MS = 20;

/** What a key may do, by a bucket that shares nothing with that of the inbox. */
class Reference {
  readonly limits: { perSecond: number; burst: number; maxConcurrent: number };
  readonly level: TokenLevel;
  running = 0;
  heldUntilMs = 0;

  constructor(random: () => number) {
    const perSecond = [0.5, 3, 7.3, 20, 100][Math.floor(random() * 5)] as number;
    const burst = 1 + Math.floor(random() * 4);
    this.limits = { perSecond, burst, maxConcurrent: 1 + Math.floor(random() * 5) };
    this.level = new TokenLevel({ ...fractionOfRate({ perSecond }), burst }, 0);
  }

  mayStart(nowMs: number): boolean {
    const { maxConcurrent } = this.limits;
    // The inbox learns of a hold at the end of the step in which the handler asked for it.
    const isHeld = nowMs < this.heldUntilMs + STEP_MS;
    return this.running < maxConcurrent && this.level.tokens(nowMs) > 0 && !isHeld;
  }
}

async function run(seed: number, isOrdered: boolean): Promise<{ starts: number; checks: number }> {
  const random = seeded(seed);
  const keys = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, at) => `key ${String(at)}`);
  const references = new Map(keys.map((key) => [key, new Reference(random)]));
  const of = (key: string): Reference => references.get(key) as Reference;
  const concurrency = 1 + Math.floor(random() * 10);
  const store = memoryStore();
  let starts = 0;
  const options: Partial<InboxOptions> = {
    store,
    concurrency,
    ordered: isOrdered,
    capacity: 10_000,
    keyGenerator: ({ headers }) => headers['x-key'],
    limits: (key) => ({
      ...of(key).limits,
      weight: 1 + (key.length % 3),
      priority: (['critical', 'normal', 'bulk'] as const)[Number(key.at(-1)) % 3],
      freshShare: isOrdered ? 0 : (Number(key.at(-1)) % 4) * 0.3,
    }),
    retry: { attempts: 50, firstDelayMs: 300, maxDelayMs: 300 },
    process: ({ key }) =>
      new Promise<void>((resolve, reject) => {
        const reference = of(key);
        starts += 1;
        reference.running += 1;
        expect(reference.running).toBeLessThanOrEqual(reference.limits.maxConcurrent);
        expect(reference.level.take(1, bench.clock.now())).toBe(1);
        expect(reference.heldUntilMs).toBeLessThanOrEqual(bench.clock.now());
        const tookMs = random() < 0.5 ? 5 : Math.ceil(random() * 300);
        bench.clock.setTimeout(() => {
          reference.running -= 1;
          const luck = random();
          if (luck < 0.02) {
            reference.heldUntilMs = Math.max(reference.heldUntilMs, bench.clock.now() + 1500);
            reject(new RetryAfter(1.5));
          } else if (luck < 0.1) reject(new Error('it failed'));
          else resolve();
        }, tookMs);
      }),
  };
  const bench = new InboxBench(options);
  let sent = 0;
  let checks = 0;
  const active = (): number => [...references.values()].reduce((sum, { running }) => sum + running, 0);
  for (let at = 0; at < 400; at += 1) {
    if (at < 200 && random() < 0.5) {
      for (let more = Math.floor(random() * 6); more > 0; more -= 1) {
        sent += 1;
        void bench.send(String(sent), '{}', { 'x-key': keys[Math.floor(random() * keys.length)] as string });
      }
    }
    // Whole milliseconds: the time of day has no exact form for most others.
    bench.clock.advance(1 + Math.floor(random() * STEP_MS));
    await turns(25);
    const nowMs = bench.clock.now();
    if (active() >= concurrency) continue;
    const { deliveries } = await store.listPending({ after: 0, limit: 10_000, nowMs: START + nowMs });
    const ready = new Set(
      deliveries
        .filter(({ state, dueMs }) => state === 'ready' && dueMs <= START + nowMs)
        // In an order, a delivery waits for the one before it.
        .filter(({ key, id }) => !isOrdered || deliveries.find((one) => one.key === key)?.id === id)
        .map(({ key }) => key),
    );
    for (const key of ready) {
      checks += 1;
      expect([seed, at, key, of(key).mayStart(nowMs)]).toEqual([seed, at, key, false]);
    }
  }
  for (let at = 0; at < 3000 && bench.inbox.snapshot().depth > 0; at += 1) {
    bench.clock.advance(250);
    await turns(8);
  }
  // After its last delivery, an ordered key is looked at another time.
  for (let at = 0; at < 4; at += 1) await bench.advance(1000);
  expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, limitedKeys: 0 });
  return { starts, checks };
}

describe('limits, as a model', () => {
  it.each([false, true])(
    'exceed no rate and no concurrency, and leave nothing idle that could run, ordered: %s',
    async (isOrdered) => {
      let checks = 0;
      for (let seed = 1; seed <= SEEDS; seed += 1) checks += (await run(seed, isOrdered)).checks;
      // Most looks found a worker that was free while a key had to wait.
      expect(checks).toBeGreaterThan(80 * SEEDS);
    },
    120_000,
  );

  it('stay quick with many keys, of which each has one delivery too many', async () => {
    const keys = isLong ? 20_000 : 2000;
    const bench = new InboxBench({
      concurrency: 50,
      capacity: 1_000_000,
      keyGenerator: ({ headers }) => headers['x-key'],
      limits: (key) => (key === 'free' ? undefined : { perMinute: 1 }),
      process: () => undefined,
    });
    await bench.inbox.pause();
    const put = async (id: string, key: string): Promise<void> => {
      await bench.send(id, '{}', { 'x-key': key });
    };
    for (let at = 0; at < keys; at += 1000)
      await Promise.all(
        Array.from({ length: 2000 }, (_, of) => put(String(of % 2), `key ${String(at + (of >> 1))}`)),
      );
    expect(bench.inbox.snapshot().depth).toBe(2 * keys);
    await bench.inbox.resume();
    const claimKeys = vi.spyOn(bench.store, 'claimKeys');
    while (bench.inbox.snapshot().totals.completed < keys) await bench.advance(30);
    expect(bench.inbox.snapshot().limitedKeys).toBeGreaterThan(0.5 * keys);
    // Each call claims for all free workers, and those without a token are not asked for.
    expect(claimKeys.mock.calls.length).toBeLessThan(keys / 20);
    for (let at = 0; at < 100; at += 1) await put(`free ${String(at)}`, 'free');
    await turns(12);
    expect(bench.inbox.snapshot().totals.completed).toBeGreaterThanOrEqual(keys + 100);
  }, 120_000);
});
