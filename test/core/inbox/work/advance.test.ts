import { type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

const CLAIM_MS = 20;
const SETTLE_MS = 5;
const WORKERS = 2;
const COUNT = 300;

/** An inbox on a slow store with a backlog of one key, whose handlers take so long. */
class Drain {
  #handlingMs: number;
  readonly asked: number[] = [];
  readonly handled: string[] = [];
  running = 0;
  mostRunning = 0;
  readonly store: InboxStore = memoryStore();
  readonly bench: InboxBench;

  constructor(handlingMs: number) {
    this.#handlingMs = handlingMs;
    const pause = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        this.bench.clock.setTimeout(resolve, ms);
      });
    const claim = this.store.claim.bind(this.store);
    const settle = this.store.settle.bind(this.store);
    this.store.claim = async (count, options) => {
      this.asked.push(count);
      await pause(CLAIM_MS);
      return await claim(count, options);
    };
    this.store.settle = async (settlements, nowMs) => {
      await pause(SETTLE_MS);
      return await settle(settlements, nowMs);
    };
    const process = async ({ id }: { readonly id: string }): Promise<void> => {
      this.handled.push(id);
      this.running += 1;
      this.mostRunning = Math.max(this.mostRunning, this.running);
      if (this.#handlingMs === Infinity) await new Promise(() => undefined);
      await pause(this.#handlingMs);
      this.running -= 1;
    };
    this.bench = new InboxBench({ store: this.store, concurrency: WORKERS, process });
  }

  /** From now on, handlers never end. */
  hang(): void {
    this.#handlingMs = Infinity;
  }

  async fill(): Promise<void> {
    await this.bench.inbox.opened;
    const ids = Array.from({ length: COUNT }, (_, at) => String(at));
    await Promise.all(ids.map((id) => this.bench.inbox.add({ id, body: '{}' })));
  }

  async run(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 1) await this.bench.advance(1);
  }

  /** Until more are claimed than run. */
  async untilAhead(): Promise<void> {
    for (let at = 0; at < 1000; at += 1) {
      if ((await this.store.stats()).inFlight > 2 * WORKERS) return;
      await this.run(1);
    }
    throw new Error('It claims nothing ahead.');
  }
}

describe('an inbox whose store takes long', () => {
  it('claims ahead of fast handlers, which run in order and no more than concurrency at a time', async () => {
    const drain = new Drain(1);
    await drain.fill();
    // Claims and settlements in turn would take 26 ms for every two.
    await drain.run((COUNT / WORKERS) * 13);
    expect(drain.bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: COUNT } });
    expect(drain.handled).toEqual(Array.from({ length: COUNT }, (_, at) => String(at)));
    expect(drain.mostRunning).toBe(WORKERS);
    expect(Math.max(...drain.asked)).toBeGreaterThan(2 * WORKERS);
  });

  it('claims only for free workers while handlers are slow', async () => {
    const drain = new Drain(500);
    await drain.fill();
    await drain.run(3000);
    expect(drain.handled.length).toBeGreaterThan(WORKERS);
    expect(Math.max(...drain.asked)).toBe(WORKERS);
  });

  it('gives claimed deliveries back when its handlers hang, so that another process can handle them', async () => {
    const drain = new Drain(1);
    await drain.fill();
    await drain.untilAhead();
    drain.hang();
    await drain.run(1000);
    for (let second = 0; second < 20; second += 1) await drain.bench.advance(1000);
    expect(drain.bench.inbox.snapshot().active).toBe(WORKERS);
    expect(await drain.store.stats()).toMatchObject({ inFlight: WORKERS });
  });

  it('starts no delivery of a claim that was answered after a pause', async () => {
    const drain = new Drain(1);
    await drain.fill();
    await drain.untilAhead();
    const claim = drain.store.claim.bind(drain.store);
    let handled: number | undefined;
    drain.store.claim = async (count, options) => {
      const claimed = await claim(count, options);
      if (handled === undefined && claimed.length > 0) {
        await drain.bench.inbox.pause();
        handled = drain.handled.length;
      }
      return claimed;
    };
    await drain.run(200);
    expect(drain.handled).toHaveLength(handled ?? NaN);
    expect(await drain.store.stats()).toMatchObject({ inFlight: 0 });
  });

  it('gives claimed deliveries back when it is paused and when it closes, and claims no more', async () => {
    const drain = new Drain(1);
    await drain.fill();
    await drain.untilAhead();
    await drain.bench.inbox.pause();
    await turns();
    const { length } = drain.handled;
    await drain.run(100);
    expect(drain.handled).toHaveLength(length);
    expect(await drain.store.stats()).toMatchObject({ inFlight: 0, depth: COUNT - length });
    await drain.bench.inbox.resume();
    await drain.untilAhead();
    const stop = drain.store.close.bind(drain.store);
    drain.store.close = async (nowMs) => {
      expect(await drain.store.stats()).toMatchObject({ inFlight: 0 });
      await stop(nowMs);
    };
    const closed = drain.bench.inbox.close();
    await drain.run(1000);
    await closed;
    const { length: claims } = drain.asked;
    await drain.run(100);
    expect(drain.asked).toHaveLength(claims);
  });
});
