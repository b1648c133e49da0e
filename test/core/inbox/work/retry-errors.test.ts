import { type InboxOptions, memoryStore, RetryAfter, Unrecoverable } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { missingKeyDelayMs, retryDelayMs } from '../../../../packages/inbox/src/work/retries.ts';
import { resolveInboxOptions } from '../../../../packages/inbox/src/options/inbox-settings.ts';
import { stream } from '@webhook-backpressure/planner/parts';
import { InboxBench } from '../inbox-bench.ts';
import { HOUR } from './outage-simulation.ts';

const OPTIONS: InboxOptions = { store: memoryStore(), process: () => undefined, verify: false };

describe('the default retries', () => {
  const { retry } = resolveInboxOptions(OPTIONS).settings;

  it('take about three days: seconds, then minutes, then hours', () => {
    const random = stream(1, 'retries');
    const sums: number[] = [];
    for (let run = 0; run < 1000; run += 1) {
      let sumMs = 0;
      for (let attempt = 1; attempt < retry.attempts; attempt += 1)
        sumMs += retryDelayMs(attempt, retry, random);
      sums.push(sumMs / HOUR);
    }
    const mean = sums.reduce((sum, one) => sum + one) / sums.length;
    expect(mean).toBeGreaterThan(68);
    expect(mean).toBeLessThan(74);
    expect(Math.min(...sums)).toBeGreaterThan(50);
    expect([1, 8, 20].map((attempt) => retryDelayMs(attempt, retry, () => 0.5))).toEqual([
      3750, 480_000, 32_400_000,
    ]);
  });

  it.each([0, 0.5, 0.999_999])('have delays within a factor of two, and never near 0: %d', (chance) => {
    for (let attempt = 1; attempt < 5000; attempt += 1) {
      const boundMs = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** (attempt - 1));
      const delayMs = retryDelayMs(attempt, retry, () => chance);
      expect(delayMs).toBeGreaterThanOrEqual(boundMs / 2);
      expect(delayMs).toBeLessThanOrEqual(boundMs);
    }
    expect(retryDelayMs(3000, { ...retry, firstDelayMs: 0 }, () => chance)).toBe(0);
  });
});

describe('Unrecoverable', () => {
  it('moves the delivery to the dead-letter queue, regardless of the attempts left', async () => {
    const dead: string[] = [];
    const bench = new InboxBench({ onDead: ({ id }, error) => dead.push(`${id} ${error}`) });
    await bench.deliver('a');
    await bench.last.fail(new Unrecoverable('No such order.', { cause: new Error('404') }));
    expect(await bench.inbox.deadLetters.get('a')).toMatchObject({
      attempts: 1,
      reason: 'dead',
      error: 'No such order.',
    });
    expect(dead).toEqual(['a No such order.']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { failed: 1, dead: 1 } });
  });

  it('lets another delivery probe an outage immediately', async () => {
    const bench = new InboxBench({ concurrency: 1 });
    for (let at = 0; at < 12; at += 1) {
      await bench.deliver(String(at));
      if (at < 10) await bench.last.fail();
    }
    await bench.advance(1000);
    expect(bench.calls.slice(10).map(({ delivery }) => delivery.id)).toEqual(['10']);
    await bench.last.fail(new Unrecoverable());
    await bench.advance(0);
    expect(bench.calls.slice(10).map(({ delivery }) => delivery.id)).toEqual(['10', '11']);
  });

  it('is no evidence of an outage', async () => {
    const process = (): void => {
      throw new Unrecoverable();
    };
    const bench = new InboxBench({ process });
    for (let at = 0; at < 30; at += 1) await bench.deliver(String(at));
    expect(bench.told('outage')).toEqual([]);
    expect((await bench.inbox.deadLetters.list())[0]).toMatchObject({ error: 'Unrecoverable' });
  });
});

describe('RetryAfter', () => {
  it('sets the delay, and counts as an attempt', async () => {
    const bench = new InboxBench({ retry: { attempts: 2, maxDelayMs: 10_000 } });
    await bench.deliver('a');
    await bench.last.fail(new RetryAfter(7200));
    expect(bench.events.at(-1)).toMatchObject({ type: 'failed', retryInMs: 7_200_000, isCounted: true });
    for (let at = 0; at < 1439; at += 1) await bench.advance(5000);
    expect(bench.calls).toHaveLength(1);
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(2);
    await bench.last.fail(new RetryAfter(1));
    expect(await bench.inbox.deadLetters.get('a')).toMatchObject({
      attempts: 2,
      error: 'The handler asked for another attempt after 1 s.',
    });
  }, 30_000);

  it('accepts 0, and never retries earlier', async () => {
    const bench = new InboxBench();
    await bench.deliver('a');
    await bench.last.fail(new RetryAfter(0));
    await bench.advance(1000);
    expect(bench.calls).toHaveLength(2);
    await bench.last.fail(new RetryAfter(0.0015));
    expect(bench.events.at(-1)).toMatchObject({ retryInMs: 2 });
  });

  it.each([Number.NaN, -1, Infinity, 86_401, '5', undefined, null])('rejects %j', async (seconds) => {
    const make = (): RetryAfter => new RetryAfter(seconds as number);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_WBP_RETRY_SECONDS' }) as Error);
    const bench = new InboxBench({
      process: () =>
        Promise.resolve().then(() => {
          throw make();
        }),
    });
    await bench.deliver('a');
    expect(bench.events.at(-1)).toMatchObject({ type: 'failed', retryInMs: 3750 });
  });
});

it('recognizes errors of another copy of the package, and ignores similar ones', async () => {
  const foreign = (mark: string, fields: object): Error =>
    Object.assign(
      Object.defineProperty(new Error('foreign'), Symbol.for(`webhook-backpressure.${mark}`), {
        value: true,
      }),
      fields,
    );
  const thrown: unknown[] = [
    foreign('unrecoverable', {}),
    foreign('retry-after', { seconds: 60 }),
    foreign('retry-after', { seconds: 'soon' }),
    Object.assign(new Error('its name alone'), { name: 'Unrecoverable' }),
    new Proxy(new Error('x'), {
      get: (target, name) => {
        if (typeof name === 'symbol') throw new Error('no look');
        return Reflect.get(target, name) as unknown;
      },
    }),
  ];
  const bench = new InboxBench({
    process: ({ text }) => {
      throw thrown[Number(text())];
    },
  });
  for (const at of thrown.keys()) await bench.deliver(String(at), String(at));
  const ends = bench.events.filter(({ type }) => type === 'failed' || type === 'dead');
  expect(ends.map((event) => (event.type === 'failed' ? event.retryInMs : event.type))).toEqual([
    'dead',
    60_000,
    ...[3750, 3750, 3750],
  ]);
});

it('without the encryption key, the delay is the age of the delivery, up to a minute and for three days', () => {
  const retry = { ...resolveInboxOptions(OPTIONS).settings.retry, firstDelayMs: 1500 };
  const delayMs = (ageMs: number, maxDelayMs = 3_600_000): number | undefined =>
    missingKeyDelayMs(ageMs, { ...retry, maxDelayMs }, () => 0.5);
  expect([0, 40_000, 259_199_999].map((ageMs) => delayMs(ageMs))).toEqual([1125, 30_000, 45_000]);
  expect([delayMs(40_000, 20_000), delayMs(259_200_000)]).toEqual([15_000, undefined]);
});
