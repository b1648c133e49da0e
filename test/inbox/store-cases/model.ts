import fc from 'fast-check';
import type { ClaimedDelivery, InboxStore, Settlement } from '@webhook-backpressure/core';
import { expect, it } from 'vitest';
import type { StoreBed } from '../store-bed.ts';
import { NaiveStore } from './naive-store.ts';
import { delivery, ends, LEASE, ROOMY, START } from './store-words.ts';

/** One step of a run, in numbers that mean what is there by then. */
interface Step {
  readonly what:
    'put' | 'overflow' | 'claim' | 'settle' | 'renew' | 'redrive' | 'purge' | 'forget' | 'hasten' | 'pass';
  readonly owner: number;
  readonly number: number;
}

const steps = fc.array(
  fc.record<Step>({
    what: fc.constantFrom(
      'put',
      'put',
      'overflow',
      'claim',
      'claim',
      'settle',
      'settle',
      'renew',
      'redrive',
      'purge',
      'forget',
      'hasten',
      'pass',
    ),
    owner: fc.nat(1),
    number: fc.nat(1000),
  }),
  { minLength: 1, maxLength: 60 },
);
const LIMITS = { ...ROOMY, capacity: 6 };
const WAYS = [
  ends.completed,
  (claimed: ClaimedDelivery, nowMs: number): Settlement => ends.failed(claimed, nowMs + 500),
  (claimed: ClaimedDelivery): Settlement => ends.dead(claimed),
  (claimed: ClaimedDelivery): Settlement => ends.released(claimed),
];

/** The same steps on two owners of a store and on the model: every answer is the same. */
async function run(stores: readonly InboxStore[], list: readonly Step[]): Promise<void> {
  const naive = new NaiveStore();
  const claimed: ClaimedDelivery[] = [];
  let nowMs = START;
  for (const { what, owner, number } of list) {
    const store = stores[owner] as InboxStore;
    switch (what) {
      case 'put':
      case 'overflow': {
        const ids = [number % 11, number % 7, number % 11];
        const batch = ids.map((id, at) => ({
          delivery: delivery(String(id), { key: `key ${String((number + at) % 2)}` }),
          isOverflow: what === 'overflow',
        }));
        expect(await store.put(batch, { limits: LIMITS, nowMs })).toEqual(naive.put(batch, LIMITS, nowMs));
        break;
      }
      case 'claim': {
        const options = { leaseMs: LEASE, nowMs, isStrandedAllowed: number % 2 === 0 };
        const got = await store.claim(number % 4, options);
        // The turn of the keys is the store's own business: the model says what may be claimed, and how many.
        naive.claim(owner, number % 4, options, got);
        claimed.push(...got);
        break;
      }
      case 'settle': {
        const one = claimed[number % Math.max(1, claimed.length)];
        const way = WAYS[number % WAYS.length];
        if (one === undefined || way === undefined) break;
        const settlement = way(one, nowMs);
        expect(await store.settle([settlement], nowMs)).toEqual([naive.settle(owner, settlement, nowMs)]);
        break;
      }
      case 'renew': {
        const one = claimed[number % Math.max(1, claimed.length)];
        if (one === undefined) break;
        const expected = naive.renew(owner, one, nowMs + LEASE);
        expect(await store.renew([one], { leaseMs: LEASE, nowMs })).toEqual([expected]);
        break;
      }
      case 'redrive': {
        const back = await store.redrive(number % 2 === 0 ? null : String(number % 11), { limit: 9, nowMs });
        expect(back.map(({ key, id }) => `${key}/${id}`).sort()).toEqual(
          naive.redrive(number % 2 === 0 ? null : String(number % 11), nowMs),
        );
        break;
      }
      case 'purge':
        expect(await store.purge(String(number % 11), { limit: 9 })).toBe(naive.purge(String(number % 11)));
        break;
      case 'forget': {
        const beforeMs = nowMs - (number % 3) * 1000;
        expect(await store.forget({ beforeMs, keep: 999, limit: 999 })).toBe(naive.forget(beforeMs));
        break;
      }
      case 'hasten': {
        const afterMs = nowMs + (number % 500);
        expect(await store.hasten({ afterMs, nowMs, limit: 999 })).toBe(naive.hasten(afterMs, nowMs));
        break;
      }
      case 'pass':
        nowMs += (number % 7) * (number % 5 === 0 ? LEASE / 3 : 100);
    }
    expect(await store.stats()).toMatchObject(naive.counts());
    expect(new Map(await store.depthByKey())).toEqual(naive.depthByKey());
    expect(await store.nextDueMs()).toBe(naive.nextDueMs(owner));
  }
}

/** Any sequence of calls, by two owners, against a model that is too simple to be wrong. */
export function model(makeBed: () => StoreBed | Promise<StoreBed>): void {
  it('does what a naive model does', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const bed = await makeBed();
        try {
          const stores = [await bed.store(), await bed.store()];
          for (const store of stores) await store.open(START);
          await run(stores, list);
        } finally {
          await bed.dispose();
        }
      }),
      { seed: 5, numRuns: 100 },
    );
  }, 120_000);
}
