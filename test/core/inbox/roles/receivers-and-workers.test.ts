import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Inbox,
  type InboxAnswer,
  type ReceivingStore,
  Unrecoverable,
} from '@webhook-backpressure/inbox';
import { turns } from '../inbox-bench.ts';
import { Tier } from './tier.ts';

let tier: Tier;
beforeEach(() => {
  tier = new Tier();
});
afterEach(() => tier.close());

const fail = (): Promise<never> => Promise.reject(new Unrecoverable('It can never succeed.'));
const statusOf = async (answer: Promise<InboxAnswer | null>): Promise<number | undefined> =>
  (await answer)?.status;

describe('a receiver without workers', () => {
  it('stores and acknowledges, never claims, and deletes nothing', async () => {
    const store = tier.store();
    const calls = (['claim', 'renew', 'settle', 'hasten', 'forget', 'purge'] as const).map((call) =>
      vi.spyOn(store, call),
    );
    const receiver = tier.addReceiver({ store });
    expect(await statusOf(tier.send(receiver))).toBe(200);
    await tier.pass(60_000, 500);
    expect(receiver.snapshot()).toMatchObject({ role: 'receiver', depth: 1, active: 0, concurrency: 0 });
    for (const call of calls) expect(call).not.toHaveBeenCalled();
  });

  it('leaves the order of the store as it is', () => {
    tier.addWorker(() => 10, { ordered: true });
    const store = tier.store();
    const open = vi.spyOn(store, 'open');
    tier.addReceiver({ store });
    expect(open.mock.calls).toEqual([[expect.any(Number)]]);
  });

  it('learns within half a second what others have stored and finished', async () => {
    const [one, two] = [tier.addReceiver(), tier.addReceiver()];
    for (let at = 0; at < 5; at += 1) await tier.send(one);
    await tier.pass(500);
    expect(two.snapshot()).toMatchObject({ depth: 5, keys: 1 });
    tier.addWorker(() => 10);
    await tier.pass(1000);
    for (const inbox of [one, two]) expect(inbox.snapshot()).toMatchObject({ depth: 0, bytes: 0, keys: 0 });
  });

  it('stalls while deliveries are due and no worker runs, and recovers', async () => {
    const receiver = tier.addReceiver();
    await tier.send(receiver);
    await tier.pass(10_000, 500);
    expect(receiver.snapshot().state).toBe('accepting');
    await tier.pass(1000, 500);
    expect(receiver.snapshot().state).toBe('stalled');
    tier.addWorker(() => 10);
    await tier.pass(1000);
    expect(receiver.snapshot().state).toBe('accepting');
    const changes = tier.events.map(({ type }) => type).filter((type) => /stall|recover/.test(type));
    expect(changes).toEqual(['stalled', 'recovered']);
  });

  it('does not stall while all deliveries wait for a retry', async () => {
    const receiver = tier.addReceiver();
    const retry = { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 };
    tier.addWorker(() => 0, { retry, process: () => Promise.reject(new Error('not now')) });
    await tier.send(receiver);
    await tier.pass(60_000, 500);
    expect(receiver.snapshot()).toMatchObject({ state: 'accepting', depth: 1 });
  });

  it('stalls on a store that cannot say when deliveries are due, unless as many are in flight', async () => {
    const store = tier.store();
    let inFlight = 0;
    const receiving: ReceivingStore = {
      open: (nowMs) => store.open(nowMs),
      put: (...args) => store.put(...args),
      stats: async () => ({ ...(await store.stats()), inFlight }),
      close: (nowMs) => store.close(nowMs),
    };
    const receiver = tier.addReceiver({ store: receiving });
    await tier.pass(500, 500);
    for (let at = 0; at < 3; at += 1) await tier.send(receiver);
    inFlight = 2;
    await tier.pass(30_000, 500);
    expect(receiver.snapshot()).toMatchObject({ state: 'accepting', isStoreFailing: false });
    inFlight = 1;
    await tier.pass(30_000, 500);
    expect(receiver.snapshot()).toMatchObject({ state: 'stalled', isStoreFailing: false });
  });

  it('does not stall while everything is paused', async () => {
    const receiver = tier.addReceiver();
    await receiver.pause();
    await tier.send(receiver);
    await tier.pass(60_000, 500);
    expect(receiver.snapshot()).toMatchObject({ state: 'accepting', isPaused: true });
  });

  it('finds out that a failed store works again, although it claims nothing', async () => {
    const store = tier.store();
    const receiver = tier.addReceiver({ store });
    const stats = vi.spyOn(store, 'stats').mockImplementation(() => {
      throw new Error('away');
    });
    await tier.pass(60_000, 500);
    expect(receiver.snapshot().isStoreFailing).toBe(true);
    expect(await statusOf(tier.send(receiver))).toBe(503);
    stats.mockRestore();
    await tier.pass(1500, 100);
    expect(receiver.snapshot().isStoreFailing).toBe(false);
    expect(await statusOf(tier.send(receiver))).toBe(200);
  });

  it('redrives dead letters for the workers', async () => {
    const receiver = tier.addReceiver();
    tier.addWorker(() => 10, { process: fail });
    await tier.send(receiver, 'a');
    await tier.pass(6000, 500);
    expect(receiver.snapshot()).toMatchObject({ depth: 0, deadLetters: 1 });
    expect(await receiver.deadLetters.redrive('a')).toBe(1);
  });
});

describe('workers without a receiver', () => {
  it('handle what receivers have stored, and receive nothing', async () => {
    const receiver = tier.addReceiver();
    const worker = tier.addWorker(() => 100);
    await tier.send(receiver);
    // Stores without events are asked every 5 s.
    await tier.pass(6000, 500);
    expect(worker.snapshot()).toMatchObject({ role: 'worker', totals: { completed: 1 } });
    await expect(tier.send(worker)).rejects.toMatchObject({ code: 'ERR_WBP_ROLE' });
  });

  it('leave the marks of the receivers alone, and do not appear among the receivers', async () => {
    const store = tier.store();
    const noteRoom = vi.spyOn(store, 'noteRoom');
    const beat = vi.fn(() => ({ members: [], news: [] }));
    tier.addWorker(() => 10, { store: Object.assign(store, { registry: { beat } }) });
    await tier.pass(20_000, 500);
    expect(noteRoom).not.toHaveBeenCalled();
    expect(beat).not.toHaveBeenCalled();
  });

  it('delete old data, however many workers there are, and each dead letter once', async () => {
    const receiver = tier.addReceiver();
    for (let at = 0; at < 3; at += 1) tier.addWorker(() => 0, { process: fail, maxDeadLetterAgeMs: 60_000 });
    for (let at = 0; at < 30; at += 1) await tier.send(receiver);
    await tier.pass(6000, 500);
    expect(receiver.snapshot().deadLetters).toBe(30);
    await tier.pass(3_700_000, 5000);
    expect(receiver.snapshot().deadLetters).toBe(0);
    const discarded = tier.events.flatMap((event) => (event.type === 'discarded' ? [event.id] : []));
    expect([discarded.length, new Set(discarded).size]).toEqual([30, 30]);
  });
});

describe('two receivers with workers on one store', () => {
  it('learn within half a second of an event of the store what the other has stored', async () => {
    const [one, two] = [1, 2].map(() => tier.addBoth({ concurrency: 1, store: tier.storeWithEvents() }));
    await tier.pass(1000, 100);
    for (let at = 0; at < 5; at += 1) await tier.send(one as Inbox);
    await tier.pass(500, 100);
    expect(two?.snapshot().depth).toBe(5);
  });

  it('learn without events within 5 s, and then within half a second while the other goes on', async () => {
    const [one, two] = [1, 2].map(() => tier.addBoth({ concurrency: 1 }));
    await tier.pass(1000, 100);
    await tier.send(one as Inbox);
    await tier.pass(6000, 100);
    expect(two?.snapshot().depth).toBe(1);
    for (let sent = 1; sent < 180; sent += 1) {
      await tier.send(one as Inbox);
      await tier.pass(600, 100);
      expect(two?.snapshot().depth).toBe(sent + 1);
    }
  });
});

describe('several receivers', () => {
  const CAPACITY = 1000;
  const HIGH_WATER = 800;

  /** Sends so many per step to each receiver; resolves with how many were accepted. */
  async function flood(receivers: readonly Inbox[], perStep: number, steps: number): Promise<number> {
    let accepted = 0;
    for (let step = 0; step < steps; step += 1) {
      for (const inbox of receivers) {
        for (let at = 0; at < perStep; at += 1) {
          void statusOf(tier.send(inbox)).then((status) => {
            if (status === 200) accepted += 1;
          });
        }
      }
      tier.clock.advance(20);
      await turns(4);
    }
    return accepted;
  }

  it('exceed the high-water mark by at most what the others store in half a second', async () => {
    const receivers = [1, 2, 3, 4].map(() => tier.addReceiver({ capacity: CAPACITY }));
    // 100 per second to each: 50 in half a second. No worker runs.
    const accepted = await flood(receivers, 2, 200);
    expect(tier.state.stats().depth).toBe(accepted);
    expect(accepted).toBeGreaterThanOrEqual(HIGH_WATER);
    expect(accepted).toBeLessThanOrEqual(HIGH_WATER + 4 * 50 + 8);
  });

  it('never exceed the capacity, however fast deliveries arrive', async () => {
    const receivers = [1, 2, 3, 4].map(() => tier.addReceiver({ capacity: CAPACITY }));
    expect(await flood(receivers, 100, 10)).toBe(CAPACITY);
    expect(tier.state.stats().depth).toBe(CAPACITY);
  });
});
