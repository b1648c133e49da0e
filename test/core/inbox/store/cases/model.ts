import fc from 'fast-check';
import type {
  ClaimedDelivery,
  DeliveryRef,
  DueKey,
  InboxStore,
  KeyWant,
  Settlement,
} from '@webhook-backpressure/inbox';
import { expect, it } from 'vitest';
import type { StoreBed } from '../../store-bed.ts';
import { NaiveKeys } from './naive-keys.ts';
import { NaiveStore } from './naive-store.ts';
import { ANY, delivery, ends, LEASE, ROOMY, START } from './store-fixtures.ts';

/** One step of a run. Its numbers select from the current contents. */
interface Step {
  readonly what:
    | 'put'
    | 'overflow'
    | 'claim'
    | 'claimKeys'
    | 'claimNewest'
    | 'claimUnstranded'
    | 'settle'
    | 'renew'
    | 'redrive'
    | 'replay'
    | 'purge'
    | 'drop'
    | 'forget'
    | 'forgetId'
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
      'claimKeys',
      'claimKeys',
      'claimNewest',
      'claimUnstranded',
      'settle',
      'settle',
      'renew',
      'redrive',
      'replay',
      'purge',
      'drop',
      'forget',
      'forgetId',
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
const LIMITS = { ...ROOMY, capacity: 6, maxDeadLetters: 6 };
const WAYS = [
  ends.completed,
  ends.kept,
  (claimed: ClaimedDelivery, nowMs: number): Settlement => ends.failed(claimed, nowMs + 500),
  (claimed: ClaimedDelivery): Settlement => ends.dead(claimed),
  (claimed: ClaimedDelivery): Settlement => ends.released(claimed),
  (claimed: ClaimedDelivery, nowMs: number): Settlement => ends.released(claimed, nowMs + 200),
];

const keyOf = (number: number): string => `key ${String(number % 2)}`;
const exceptOf = (number: number): ReadonlySet<string> =>
  new Set(number % 5 === 0 ? [keyOf(Math.floor(number / 5))] : []);
/** One to three keys, of which the last is unknown. */
function wantsOf(number: number): KeyWant[] {
  const keys = [keyOf(number), keyOf(number + 1), 'unknown'].slice(0, 1 + (number % 3));
  return keys.map((key, at) => ({
    key,
    count: 1 + ((number + at) % 4),
    isHeadOnly: (number + at) % 5 < 2,
    maxHeld: (number + at) % 3 === 0 ? 1 + (number % 3) : undefined,
  }));
}

async function keysOf(store: InboxStore, limit: number, dueByMs: number): Promise<DueKey[]> {
  const found: DueKey[] = [];
  let after: string | undefined;
  do {
    const { keys, next } = await store.dueKeys({ after, limit, dueByMs });
    found.push(...keys);
    after = next;
  } while (after !== undefined);
  return found;
}

function namesOf(ones: readonly DeliveryRef[]): string[] {
  return ones.map(({ key, id }) => `${key}/${id}`).sort();
}

/** Runs the same steps on two owners of a store and on the model, whose results must be equal. */
async function run(stores: readonly InboxStore[], list: readonly Step[], isOrdered: boolean): Promise<void> {
  const naive = new NaiveStore(isOrdered);
  const naiveKeys = new NaiveKeys(naive, isOrdered);
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
        // The rotation of keys is up to the store: the model checks which deliveries may be claimed, and how many.
        naive.claim(owner, number % 4, options, got);
        claimed.push(...got);
        break;
      }
      case 'claimKeys': {
        const options = { leaseMs: LEASE, nowMs };
        const got = await store.claimKeys(wantsOf(number), options);
        claimed.push(...naiveKeys.claim(owner, wantsOf(number), options, got));
        break;
      }
      case 'claimNewest': {
        if (isOrdered) break;
        const options = { leaseMs: LEASE, nowMs, isNewestFirst: true };
        const wants = wantsOf(number).map((one) => ({ ...one, isHeadOnly: false }));
        const got = await store.claimKeys(wants, options);
        claimed.push(...naiveKeys.claim(owner, wants, options, got));
        break;
      }
      case 'claimUnstranded': {
        const options = { leaseMs: LEASE, nowMs, maxStranded: 0 };
        const wants = wantsOf(number).map((one) => ({ ...one, isHeadOnly: false }));
        const got = await store.claimKeys(wants, options);
        claimed.push(...naiveKeys.claim(owner, wants, options, got));
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
      case 'redrive':
      case 'replay': {
        const id = number % 2 === 0 ? null : String(number % 11);
        const portion = { ...ANY, limit: 1 + (number % 4) };
        const back = await store[what](id, { ...portion, nowMs });
        expect(namesOf(back)).toEqual(naive.putBack(what, id, portion.limit, nowMs));
        break;
      }
      case 'purge': {
        const id = String(number % 11);
        expect(namesOf(await store.purge(id, ANY))).toEqual(naive.purge(id));
        break;
      }
      case 'drop': {
        const beforeMs = nowMs - (number % 3) * 1000;
        const dropped = await store.dropCompleted({ ...ANY, beforeMs, keepBytes: 1 << 30 });
        expect(namesOf(dropped)).toEqual(naive.drop(beforeMs));
        break;
      }
      case 'forget': {
        const beforeMs = nowMs - (number % 3) * 1000;
        naive.forget(beforeMs, await store.forget({ beforeMs, keep: 999, limit: 999, nowMs }));
        break;
      }
      case 'forgetId': {
        const ref = { key: `key ${String(number % 2)}`, id: String(number % 11) };
        expect(await store.forgetId(ref)).toBe(naive.forgetId(ref));
        break;
      }
      case 'hasten': {
        const afterMs = nowMs + (number % 500);
        const key = number % 2 === 0 ? keyOf(number) : undefined;
        expect(await store.hasten({ key, afterMs, nowMs, limit: 999 })).toBe(
          naive.hasten(afterMs, nowMs, key),
        );
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
    const dueByMs = number % 2 === 0 ? Infinity : nowMs + (number % 700);
    naiveKeys.checkDue(owner, nowMs, dueByMs, await keysOf(store, 1 + (number % 3), dueByMs));
    const { deliveries, next } = await store.listPending({ after: 0, limit: 99, nowMs });
    expect(next).toBeUndefined();
    expect(
      deliveries.map(({ key, id, state, attempts, dueMs }) => [key, id, state, attempts, dueMs]),
    ).toEqual(naive.pending(nowMs));
  }
}

/** Compares any sequence of calls by two owners with a model that is too simple to be wrong. */
export function model(makeBed: () => StoreBed | Promise<StoreBed>, numRuns: number): void {
  it.each([false, true])(
    'behaves as a naive model, ordered: %s',
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
        { seed: 5, numRuns },
      );
    },
    120_000,
  );
}
