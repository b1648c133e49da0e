import type { IntakeOptions, Permit, Refusal } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import {
  createBench,
  expectBalance,
  letIn,
  occupy,
  reactions,
  seeded,
  startedNow,
  type Bench,
} from '../harness.ts';
import { profileOf } from '../refusals/watched-sender.ts';

interface Flooded extends Bench {
  /** The permits of the flood. */
  readonly flood: Permit[];
  /** Two starts, since at most every second one is out of turn. */
  readonly pass: () => Promise<void>;
  /** Queues deliveries of the flood up to the high-water mark. */
  readonly refill: () => void;
}

/** A queue that another sender has filled up to its high-water mark, with this many keys, and one worker. */
function beside(options: IntakeOptions = {}, keys = 1): Flooded {
  const bench = createBench({ capacity: 100, concurrency: 1, maxWaitMs: 60_000, ...options });
  const flood = occupy(bench.intake, 'flood');
  const refill = (): void => {
    for (let i = 0; bench.intake.snapshot().state === 'accepting'; i += 1) {
      const { permit } = letIn(bench.intake.admit({ key: `flood ${String(i % keys)}` }));
      void Promise.resolve(permit).then((answer) => {
        if (answer.admitted) flood.push(answer);
      });
    }
  };
  refill();
  const pass = async (): Promise<void> => {
    for (let i = 0; i < 2; i += 1) {
      flood.pop()?.release();
      await reactions();
    }
  };
  return { ...bench, flood, pass, refill };
}

/** What becomes of deliveries of a sender, in the order of its answers: `s` a success, `F` a failure. */
class Answers {
  text = '';
  /** Permits that are held. */
  readonly held: Permit[] = [];
  readonly #bench: Bench;
  readonly #profile: SenderProfile;
  readonly #key: string;

  constructor(bench: Bench, profile: SenderProfile, key = profile.name) {
    this.#bench = bench;
    this.#profile = profile;
    this.#key = key;
  }

  arrive(count = 1): void {
    for (let i = 0; i < count; i += 1) {
      const result = this.#bench.intake.admit({ key: this.#key, profile: this.#profile });
      if (result.admitted)
        void Promise.resolve(result.permit).then((answer) => {
          this.#settle(answer);
        });
      else this.#settle(result);
    }
  }

  /** The handlers of all that have started end. */
  async end(outcome: 'success' | 'failure' = 'success'): Promise<void> {
    for (const permit of this.held.splice(0)) {
      this.text += outcome === 'success' ? 's' : 'F';
      permit.release(outcome);
      await reactions();
    }
  }

  #settle(answer: Permit | Refusal): void {
    if (answer.admitted) this.held.push(answer);
    else this.text += 'F';
  }
}

describe('a queue that other senders fill', () => {
  it('queues deliveries one failure before the warning, and refuses the deferred ones after a success', async () => {
    const bench = beside();
    const shop = new Answers(bench, profileOf('shop', 8));
    // As a small key it gets twelve places of the reserve. Then five are refused, and eight queued: the last five in
    // places that are kept for that.
    shop.arrive(25);
    await reactions();
    expect(shop.text).toBe('FFFFF');
    expect(bench.intake.snapshot()).toMatchObject({ depth: 100, endangered: [] });
    await bench.pass();
    expect(shop.held).toHaveLength(1);
    await shop.end();
    expect(shop.text).toBe('FFFFFsFFFFF');
    expect(bench.intake.snapshot()).toMatchObject({ endangered: [], totals: { withdrawn: { expired: 5 } } });
    expectBalance(bench.intake.snapshot());
  });

  it('waits for another success if a handler fails', async () => {
    const bench = beside();
    const shop = new Answers(bench, profileOf('shop', 8));
    shop.arrive(25);
    await bench.pass();
    await shop.end('failure');
    expect(shop.text).toBe('FFFFFF');
    await bench.pass();
    await shop.end();
    expect(shop.text).toBe('FFFFFFsFFFFF');
  });

  it('handles deferred deliveries if there is room for them when one succeeds', async () => {
    const bench = beside({ concurrency: 4 }, 40);
    const shop = new Answers(bench, profileOf('shop', 8));
    shop.arrive(25);
    for (let i = 0; i < 40 && bench.intake.snapshot().state === 'shedding'; i += 1) await bench.pass();
    expect(bench.intake.snapshot().state).toBe('accepting');
    for (let i = 0; i < 60; i += 1) {
      await shop.end();
      await bench.pass();
    }
    expect(shop.text).toBe(`FFFFF${'s'.repeat(20)}`);
    expect(bench.intake.snapshot()).toMatchObject({ depth: 0, totals: { withdrawn: { expired: 0 } } });
  });

  it('does not refuse a deferred delivery that has started', async () => {
    const bench = beside({ concurrency: 30 });
    const shop = new Answers(bench, profileOf('shop', 8));
    shop.arrive(25);
    // All of the shop's have started, the deferred ones too.
    for (const permit of bench.flood.splice(0)) permit.release();
    await reactions();
    for (let i = 0; i < 20 && shop.held.length < 20; i += 1) await bench.pass();
    expect(shop.held).toHaveLength(20);
    await shop.end();
    expect(shop.text).toBe(`FFFFF${'s'.repeat(20)}`);
  });

  it('keeps places for them that no other delivery gets', async () => {
    const bench = beside({}, 40);
    const shop = new Answers(bench, profileOf('shop', 8));
    shop.arrive(5);
    expect(shop.text).toBe('FFFFF');
    for (let i = 0; i < 200; i += 1)
      bench.intake.admit({ key: `other ${String(i % 10)}`, priority: 'critical' });
    expect(bench.intake.snapshot().depth).toBe(95);
    shop.arrive(5);
    await reactions();
    expect(shop.text).toBe('FFFFF');
    expect(bench.intake.snapshot()).toMatchObject({ depth: 100, endangered: [] });
  });

  it('defers at most 256 refusals, whatever the capacity and however many keys', async () => {
    const bench = createBench({ capacity: 2000, concurrency: 1, maxWaitMs: 2000 });
    for (let i = 0; i < 20; i += 1) {
      const permit = startedNow(bench.intake.admit());
      bench.clock.advance(1000);
      permit.release();
    }
    occupy(bench.intake);
    const shops = ['one', 'two', 'three'].map((key) => new Answers(bench, profileOf('shop', 8), key));
    for (let i = 0; i < 300; i += 1) for (const shop of shops) shop.arrive(1);
    await reactions();
    const { depth, effectiveCapacity } = bench.intake.snapshot();
    // Two start within the longest wait, at one per second.
    expect(effectiveCapacity).toBe(2);
    expect(depth).toBeGreaterThanOrEqual(256);
    expect(depth).toBeLessThanOrEqual(256 + effectiveCapacity);
    expect(bench.intake.snapshot().endangered).toEqual(['shop']);
    expectBalance(bench.intake.snapshot());
  });

  it('forgets a deferred delivery whose sender disconnects', async () => {
    const bench = beside({}, 40);
    const profile = profileOf('shop', 8);
    new Answers(bench, profile).arrive(5);
    // More than may be deferred concurrently.
    for (let round = 0; round < 100; round += 1) {
      const results = Array.from({ length: 20 }, () => bench.intake.admit({ key: 'shop', profile }));
      expect(results.filter(({ admitted }) => admitted)).toHaveLength(20);
      expect(bench.intake.snapshot().depth).toBe(100);
      for (const result of round % 2 === 0 ? results : results.reverse()) letIn(result).leave();
      expect(bench.intake.snapshot().depth).toBe(80);
    }
    await reactions();
    expect(bench.intake.snapshot().totals.withdrawn).toMatchObject({ abandoned: 2000 });
    expectBalance(bench.intake.snapshot());
  });

  it('leaves no deferred delivery behind when it closes', async () => {
    const bench = beside();
    const shop = new Answers(bench, profileOf('shop', 8));
    shop.arrive(25);
    const closed = bench.intake.close({ timeoutMs: 1000 });
    for (let i = 0; i < 30; i += 1) {
      await bench.pass();
      await shop.end();
      bench.clock.advance(100);
    }
    await closed;
    expect(bench.intake.snapshot()).toMatchObject({ state: 'closed', depth: 0 });
    expect(bench.clock.pending).toBe(0);
    expect(shop.text).toHaveLength(25);
    expectBalance(bench.intake.snapshot());
  });

  it('never becomes longer than its capacity', () => {
    const bench = beside();
    for (let i = 0; i < 200; i += 1)
      bench.intake.admit({ key: `other ${String(i % 10)}`, priority: 'critical' });
    expect(bench.intake.snapshot().depth).toBe(100);
    new Answers(bench, profileOf('shop', 8)).arrive(40);
    expect(bench.intake.snapshot()).toMatchObject({ depth: 100, endangered: ['shop'] });
  });

  it('refuses a sender without such a rule, or without time to wait', async () => {
    const bench = beside();
    const plain = new Answers(bench, profileOf('plain', 8, { switchOff: undefined }));
    plain.arrive(40);
    // The first twelve are those of a small key.
    expect(plain.text).toHaveLength(28);
    const hasty = { ...profileOf('hasty', 8), timeoutMs: 0 };
    for (let i = 0; i < 40; i += 1) bench.intake.admit({ key: 'hasty', profile: hasty, maxWaitMs: 0 });
    await reactions();
    expect(bench.intake.snapshot().endangered).toEqual(['hasty']);
  });

  it('warns when no place is left', () => {
    const bench = beside();
    const shop = new Answers(bench, profileOf('shop', 8));
    shop.arrive(40);
    expect(bench.intake.snapshot()).toMatchObject({ depth: 100, endangered: ['shop'] });
    expect(bench.events.filter(({ type }) => type === 'endangered')).toMatchObject([
      { sender: 'shop', key: 'shop' },
    ]);
  });

  it('waits with refusals of deliveries that expired together, until a success', async () => {
    const bench = createBench({ capacity: 100, concurrency: 1, maxWaitMs: 1000 });
    const shop = new Answers(bench, profileOf('shop', 8));
    shop.arrive(21);
    await reactions();
    bench.clock.advance(1060);
    await reactions();
    expect(shop.text).toBe('FFFFF');
    await shop.end();
    expect(shop.text).toBe('FFFFFsFFFFF');
    // The worker is busy again. A tenth of the longest wait later, they have to be refused.
    bench.clock.advance(100);
    await reactions();
    expect(bench.intake.snapshot().depth).toBe(0);
  });

  it.each([8, 6, 4, 3])(
    'never refuses a sender up to its limit of %i while its places suffice',
    async (inARow) => {
      for (let seed = 1; seed <= 2; seed += 1) {
        const random = seeded(seed);
        const bench = beside({ concurrency: 2 });
        const shop = new Answers(bench, profileOf('shop', inARow));
        const most = Math.max(1, Math.floor(inARow * 0.75) - 1);
        for (let round = 0; round < 150; round += 1) {
          // In clumps: as many as a run allows for each success, and more of them now and then.
          const clump = random() < 0.05 ? 8 : Math.floor(random() * (most + 1));
          shop.arrive(clump);
          for (const permit of bench.flood.splice(0)) permit.release();
          await reactions();
          await shop.end();
          if (bench.intake.snapshot().depth < 80) bench.refill();
          bench.clock.advance(random() * 100);
          await reactions();
        }
        const longest = Math.max(0, ...shop.text.split('s').map((run) => run.length));
        expect(longest, `seed ${String(seed)}`).toBeLessThan(inARow);
        expect(shop.text.length).toBeGreaterThan(100);
      }
    },
  );
});
