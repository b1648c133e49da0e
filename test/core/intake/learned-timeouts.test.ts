import type { Admission, Delivery, IntakeOptions, Permit, Refusal } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { LearnedTimeouts } from '../../../packages/core/src/intake/learned-timeouts.ts';
import { AdmittedDelivery } from '../../../packages/core/src/workers/admitted-delivery.ts';
import { createBench, exponential, letIn, seeded, startedLater, startedNow } from '../harness.ts';
import { arrivals, runUntil } from '../workshop.ts';

const WORKERS = 10;
const SERVICE_MS = 400;
/** A fifth more than ten workers of 400 ms can handle. */
const PER_SECOND = 30;
const UNTIL_MS = 40_000;

interface Senders {
  readonly timeoutMs: number;
  readonly delivery?: Delivery;
}

class Tally {
  brought = 0;
  /** Handled before their senders disconnected. */
  delivered = 0;
  /** How long it took to refuse queued deliveries. */
  readonly refusedAfterMs: number[] = [];
}

/** Senders of an intake that disconnect after their timeout. One tally for each kind of sender. */
async function send(kinds: readonly Senders[], options: IntakeOptions = {}, seed = 1): Promise<Tally[]> {
  const random = seeded(seed);
  const { clock, intake } = createBench({ concurrency: WORKERS, random, ...options });
  const bring = ({ timeoutMs, delivery }: Senders, tally: Tally): void => {
    const sentMs = clock.now();
    let isThere = true;
    let permit: Permit | undefined;
    tally.brought += 1;
    const work = (result: Permit | Refusal): void => {
      if (!result.admitted) {
        if (isThere) tally.refusedAfterMs.push(clock.now() - sentMs);
        return;
      }
      permit = result;
      clock.setTimeout(
        () => {
          result.release(isThere ? 'success' : 'failure');
          if (isThere) tally.delivered += 1;
        },
        SERVICE_MS * (0.5 + random()),
      );
    };
    const result = intake.admit(delivery);
    clock.setTimeout(() => {
      isThere = false;
      if (permit !== undefined) permit.abort();
      else if (result.admitted) result.leave();
    }, timeoutMs);
    if (result.admitted && result.permit instanceof Promise) void result.permit.then(work);
    else work(result.admitted ? (result.permit as Permit) : result);
  };
  const tallies = kinds.map((kind) => {
    const tally = new Tally();
    const gapMs = (): number => exponential(random, (1000 / PER_SECOND) * kinds.length);
    arrivals(clock, UNTIL_MS, gapMs, () => {
      bring(kind, tally);
    });
    return tally;
  });
  await runUntil(clock, UNTIL_MS + 20_000);
  return tallies;
}

describe('senders with an unknown timeout of 5 s, at a fifth more than the workers can handle', () => {
  it.each([1, 2, 3, 4, 5])('get most answers in time, seed %i', async (seed) => {
    const [{ brought, delivered, refusedAfterMs }] = (await send([{ timeoutMs: 5000 }], {}, seed)) as [Tally];
    // Of 1,000 that the workers can handle, a bounded queue without this delivers 620 to 720.
    expect(brought).toBeGreaterThan(1100);
    expect(delivered).toBeGreaterThanOrEqual(900);
    expect(Math.max(...refusedAfterMs)).toBeLessThan(5000);
  });

  it('are not refused earlier if they never retry', async () => {
    const never = { timeoutMs: 5000, delivery: { key: 'github', retries: false } };
    const [{ refusedAfterMs }] = (await send([never])) as [Tally];
    expect(refusedAfterMs).toEqual([]);
  });

  it('do not shorten the wait of another key', async () => {
    const [, patient] = (await send([
      { timeoutMs: 5000, delivery: { key: 'impatient' } },
      { timeoutMs: 30_000, delivery: { key: 'patient' } },
    ])) as [Tally, Tally];
    expect(patient.delivered / patient.brought).toBeGreaterThanOrEqual(0.95);
  });
});

describe('disconnects that are unrelated to the queue', () => {
  it.each([
    ['a delivery that was not queued', 0, 3000],
    ['one whose handler is much slower than usual', 200, 3000],
  ])('are ignored: %s', async (_, queuedMs, handledMs) => {
    const { clock, intake } = createBench({ concurrency: 1, maxWaitMs: 30_000 });
    const usual = startedNow(intake.admit({ key: 'a' }));
    clock.advance(100);
    usual.release();
    for (let i = 0; i < 10; i += 1) {
      const before = queuedMs > 0 ? startedNow(intake.admit({ key: 'b' })) : undefined;
      const admission = letIn(intake.admit({ key: 'a' }));
      clock.advance(queuedMs);
      before?.release();
      const permit = before === undefined ? startedNow(admission) : await startedLater(admission);
      clock.advance(handledMs);
      // A handler that checks its signal ends early, so its time is not what the work takes.
      expect(permit.signal.aborted).toBe(false);
      permit.abort();
      permit.release('failure');
    }
    const before = startedNow(intake.admit({ key: 'b' }));
    const patient = letIn(intake.admit({ key: 'a' }));
    clock.advance(3100);
    before.release();
    expect((await startedLater(patient)).waitedMs).toBe(3100);
  });
});

describe('deliveries whose senders stay connected for longer', () => {
  it('end the learned timeout', async () => {
    const { clock, intake } = createBench({ concurrency: 1, maxWaitMs: 30_000, maxHandlingMs: 86_400_000 });
    const behindAnother = (forMs: number, act: (admission: Admission) => void): Admission => {
      const before = startedNow(intake.admit({ key: 'b' }));
      const admission = letIn(intake.admit({ key: 'a' }));
      clock.advance(forMs);
      act(admission);
      before.release();
      return admission;
    };
    const stay = (): undefined => undefined;
    for (let i = 0; i < 8; i += 1)
      behindAnother(3000, (admission) => {
        admission.leave();
      });
    expect(await behindAnother(3100, stay).permit).toMatchObject({ admitted: false, reason: 'wait' });
    const handled = startedNow(intake.admit({ key: 'a' }));
    clock.advance(4000);
    handled.release();
    expect((await startedLater(behindAnother(3100, stay))).waitedMs).toBe(3100);
  });
});

describe('the learned timeout of a key', () => {
  /** The rule without an intake, told of deliveries that have been queued for so long. */
  class Told {
    readonly #rule = new LearnedTimeouts(() => this.handlingMs);
    handlingMs = 0;

    gone(key: string, ageMs: number, nowMs: number): void {
      this.#rule.withdrawn(queued(key, nowMs - ageMs), 'abandoned', nowMs);
    }

    stayed(key: string, ageMs: number, nowMs: number): void {
      this.#rule.ended(queued(key, nowMs - ageMs), 'success', nowMs);
    }

    of(key: string, nowMs: number): number {
      return this.#rule.longestWaitMs({ delivery: { key }, key, nowMs });
    }
  }

  const owner = { leave: nothing, abandon: nothing, release: nothing };

  function nothing(): void {
    // The rule alone is tested.
  }

  function queued(key: string, admittedAtMs: number): AdmittedDelivery {
    return new AdmittedDelivery(owner, { delivery: { key }, key, nowMs: admittedAtMs }, 1, 30_000);
  }

  function learned(agesMs: readonly number[], everyMs = 20): Told {
    const told = new Told();
    for (const [i, ageMs] of agesMs.entries()) told.gone('a', ageMs, i * everyMs);
    return told;
  }
  const same = (ageMs: number, count: number): number[] => Array.from({ length: count }, () => ageMs);

  it('is not known before eight disconnects, and then leaves time for the handling', () => {
    const [seven, eight] = [learned(same(5000, 7)), learned(same(5000, 8))];
    seven.handlingMs = eight.handlingMs = 400;
    expect(seven.of('a', 200)).toBe(Infinity);
    expect(eight.of('a', 200)).toBe(4400);
    expect(eight.of('b', 200)).toBe(Infinity);
    eight.handlingMs = 60_000;
    expect(eight.of('a', 200)).toBe(2500);
  });

  it('is not learned from disconnects at different ages, nor within 2.5 s', () => {
    expect(learned([3000, 9000, 3000, 7000, 4000, 8000, 4000, 6000, 5000]).of('a', 200)).toBe(Infinity);
    expect(learned(same(2499, 100)).of('a', 2000)).toBe(Infinity);
  });

  it('is not learned from a client that dies with all of its connections', () => {
    expect(learned(same(5000, 100), 0.1).of('a', 200)).toBe(Infinity);
  });

  it('is not learned from deliveries that are withdrawn for another cause', () => {
    const rule = new LearnedTimeouts(() => 0);
    for (let i = 0; i < 100; i += 1) rule.withdrawn(queued('a', i * 20 - 5000), 'expired', i * 20);
    expect(rule.longestWaitMs({ delivery: {}, key: 'a', nowMs: 2000 })).toBe(Infinity);
  });

  it('is learned again after a while, whatever was known before', () => {
    const told = learned(same(30_000, 16));
    for (let i = 0; i < 8; i += 1) told.gone('a', 5000, 100_000 + i * 20);
    expect(told.of('a', 100_200)).toBe(5000);
  });

  it('is forgotten a minute after the last disconnect', () => {
    expect(learned(same(5000, 8)).of('a', 60_140)).toBe(5000);
    expect(learned(same(5000, 8)).of('a', 60_141)).toBe(Infinity);
  });

  it('is not used while as many senders wait longer', () => {
    const told = learned(same(5000, 16));
    for (let i = 0; i < 8; i += 1) told.stayed('a', 6000, 400);
    expect(told.of('a', 400)).toBe(5000);
    told.stayed('a', 6000, 400);
    expect(told.of('a', 400)).toBe(Infinity);
  });

  it('is remembered for a thousand keys', () => {
    const told = new Told();
    for (let i = 0; i < 100_000; i += 1)
      for (let times = 0; times < 8; times += 1) told.gone(`key ${String(i)}`, 5000, times * 20);
    const known = Array.from({ length: 100_000 }, (_, i) => told.of(`key ${String(i)}`, 200));
    expect(known.filter((ms) => ms < Infinity)).toHaveLength(1000);
  });
});
