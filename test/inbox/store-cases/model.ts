import fc from 'fast-check';
import type { ClaimedDelivery, InboxStore, Settlement } from '@webhook-backpressure/core';
import { expect, it } from 'vitest';
import type { StoreBed } from '../store-bed.ts';
import { NaiveStore } from './naive-store.ts';
import { delivery, ends, LEASE, ROOMY, START } from './store-words.ts';

/** One step of a run, in numbers that mean what is there by then. */
interface Step {
  readonly what:
    | 'put'
    | 'overflow'
    | 'claim'
    | 'settle'
    | 'renew'
    | 'redrive'
    | 'purge'
    | 'forget'
    | 'hasten'
    | 'pause'
    | 'resume'
    | 'pass';
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
      'pause',
      'resume',
      'resume',
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
  (claimed: ClaimedDelivery, nowMs: number): Settlement => ends.released(claimed, nowMs + 200),
];

const keyOf = (number: number): string => `key ${String(number % 2)}`;
const exceptOf = (number: number): ReadonlySet<string> =>
  new Set(number % 5 === 0 ? [keyOf(Math.floor(number / 5))] : []);

/** The same steps on two owners of a store and on the model: every answer is the same. */
async function run(stores: readonly InboxStore[], list: readonly Step[], isOrdered: boolean): Promise<void> {
  const naive = new NaiveStore(isOrdered);
  const claimed: ClaimedDelivery[] = [];
  let nowMs = START;
  for (const { what, owner, number } of list) {
    const store = stores[owner] as InboxStore;
    switch (what) {
      case 'put':
      case 'overflow': {
        const ids = [number % 11, number % 7, number % 11];
        const batch = ids.map((id, at) => ({
          delivery: delivery(String(id), { key: keyOf(number + at) }),
          isOverflow: what === 'overflow',
        }));
        expect(await store.put(batch, { limits: LIMITS, nowMs })).toEqual(naive.put(batch, LIMITS, nowMs));
        break;
      }
      case 'claim': {
        const options = { leaseMs: LEASE, nowMs, maxStranded: number % 3, except: exceptOf(number) };
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
      case 'pause': {
        const key = number % 3 === 0 ? null : keyOf(number);
        expect(await store.pause(key)).toBe(naive.pause(key));
        break;
      }
      case 'resume': {
        const key = number % 3 === 0 ? null : keyOf(number);
        expect(await store.resume(key)).toBe(naive.resume(key));
        break;
      }
      case 'pass':
        nowMs += (number % 7) * (number % 5 === 0 ? LEASE / 3 : 100);
    }
    expect(await store.stats()).toMatchObject(naive.counts());
    expect(new Map(await store.depthByKey())).toEqual(naive.depthByKey());
    const except = exceptOf(number);
    naive.checkDue(owner, except, nowMs, await store.nextDueMs(except));
  }
}

/** Any sequence of calls, by two owners, against a model that is too simple to be wrong. */
export function model(makeBed: () => StoreBed | Promise<StoreBed>): void {
  it.each([false, true])(
    'does what a naive model does, with an order: %s',
    async (isOrdered) => {
      await fc.assert(
        fc.asyncProperty(steps, async (list) => {
          const bed = await makeBed();
          try {
            const stores = [await bed.store(), await bed.store()];
            for (const store of stores) await store.open(START, { isOrdered });
            await run(stores, list, isOrdered);
          } finally {
            await bed.dispose();
          }
        }),
        { seed: 5, numRuns: 100 },
      );
    },
    120_000,
  );
}
