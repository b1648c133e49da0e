import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { START } from '../store/cases/store-fixtures.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Lets time pass in steps, in each of which the inbox reads the clock. */
async function passing(bench: InboxBench, ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 60_000) await bench.advance(Math.min(leftMs, 60_000));
}

describe('a step of the clock', () => {
  it('back does not delay a retry', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: 2000 } });
    await bench.deliver('a');
    await bench.last.fail();
    bench.wallOffsetMs -= 3_600_000;
    await bench.advance(1600);
    expect(bench.calls).toHaveLength(2);
  });

  it('forward does not make a retry due before the clock was steady for an hour', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: 12 * HOUR, maxDelayMs: 12 * HOUR } });
    await bench.deliver('a');
    await bench.last.fail();
    bench.wallOffsetMs += 12 * HOUR;
    await passing(bench, HOUR - 60_000);
    expect(bench.calls).toHaveLength(1);
    await passing(bench, 120_000);
    expect(bench.calls).toHaveLength(2);
  });

  it('forward by a few seconds is trusted immediately', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: 10_000 } });
    await bench.deliver('a');
    await bench.last.fail();
    bench.wallOffsetMs += 5000;
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(2);
  });

  it('is not trusted while more steps follow', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: DAY, maxDelayMs: DAY } });
    await bench.deliver('a');
    await bench.last.fail();
    for (let at = 0; at < 6; at += 1) {
      bench.wallOffsetMs += 4 * HOUR;
      await passing(bench, HOUR / 2);
    }
    expect(bench.calls).toHaveLength(1);
  });

  it('does not let another process take over claims, which are renewed by the trusted time', async () => {
    const state = new MemoryState();
    const bench = new InboxBench({ store: new MemoryStore(state) });
    const other = new InboxBench({ store: new MemoryStore(state) });
    await bench.deliver('a');
    for (const one of [bench, other]) one.wallOffsetMs += DAY;
    for (let at = 0; at < 6; at += 1) {
      await bench.advance(10_000);
      await other.advance(10_000);
    }
    expect([bench.calls.length, other.calls.length]).toEqual([1, 0]);
  });

  it('does not change the time of receipt or the age of a delivery', async () => {
    const bench = new InboxBench();
    bench.wallOffsetMs -= HOUR;
    await bench.deliver('back');
    expect(bench.last.delivery.receivedAt.getTime()).toBe(START - HOUR);
    expect(bench.inbox.snapshot().oldestAgeMs).toBe(0);
    bench.wallOffsetMs += HOUR + DAY;
    await bench.deliver('ahead');
    expect(bench.last.delivery.receivedAt.getTime()).toBe(START + DAY);
    expect(bench.events.filter(({ type }) => type === 'started')).toMatchObject([
      { waitedMs: 0 },
      { waitedMs: 0 },
    ]);
  });
});

describe('the retention of completed ids', () => {
  const IDS = Array.from({ length: 50 }, (_, at) => `id ${String(at)}`);

  /** How many of the ids are stored again when they are sent again. */
  async function handledTwice(bench: InboxBench): Promise<number> {
    const { stored } = bench.inbox.snapshot().totals;
    for (const id of IDS) await bench.deliver(id);
    return bench.inbox.snapshot().totals.stored - stored;
  }

  async function completed(options: ConstructorParameters<typeof InboxBench>[0] = {}): Promise<InboxBench> {
    const bench = new InboxBench(options);
    for (const id of IDS) {
      await bench.deliver(id);
      await bench.last.finish();
    }
    return bench;
  }

  it.each([8 * DAY, 365 * DAY])(
    'is not shortened by a clock that is ahead by %d ms and then corrected',
    async (jumpMs) => {
      const bench = await completed();
      bench.wallOffsetMs += jumpMs;
      await passing(bench, HOUR - 60_000);
      expect(await handledTwice(bench)).toBe(0);
      bench.wallOffsetMs -= jumpMs;
      await passing(bench, 3 * HOUR);
      expect(await handledTwice(bench)).toBe(0);
    },
  );

  it('is not shortened by a clock that goes back and forward again', async () => {
    const bench = await completed();
    bench.wallOffsetMs -= 8 * DAY;
    await passing(bench, 2 * HOUR);
    bench.wallOffsetMs += 8 * DAY;
    await passing(bench, 3 * HOUR);
    expect(await handledTwice(bench)).toBe(0);
  });

  it('is not shortened by a start with a clock that is ahead and corrected within an hour', async () => {
    const state = new MemoryState();
    const first = await completed({ store: new MemoryStore(state) });
    await first.inbox.close();
    const bench = new InboxBench({ store: new MemoryStore(state) }, START + 365 * DAY);
    await passing(bench, HOUR - 60_000);
    expect(await handledTwice(bench)).toBe(0);
    bench.wallOffsetMs = START;
    await passing(bench, 5 * HOUR);
    expect(await handledTwice(bench)).toBe(0);
  });

  it('ends on time when the clock was steady for an hour', async () => {
    const bench = await completed();
    bench.wallOffsetMs += 8 * DAY;
    await passing(bench, HOUR + 60_000);
    expect(await handledTwice(bench)).toBe(50);
  });

  it('ends on time after a sleep of the machine that both clocks count', async () => {
    const bench = await completed();
    await passing(bench, HOUR);
    await bench.advance(8 * DAY);
    await passing(bench, 10_000);
    expect(await handledTwice(bench)).toBe(50);
  });
});

describe('a sleep of the machine', () => {
  it('that both clocks count makes retries due', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: 12 * HOUR, maxDelayMs: 12 * HOUR } });
    await bench.deliver('a');
    await bench.last.fail();
    await bench.advance(12 * HOUR);
    expect(bench.calls).toHaveLength(2);
  });

  it('that only the wall clock counts loses no delivery, and delays retries by the time asleep', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: 10_000 } });
    await bench.deliver('a');
    await bench.last.fail();
    bench.wallOffsetMs += 8 * HOUR;
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(1);
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(2);
    await bench.last.finish();
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 1 } });
  });
});

describe('a clock that was ahead and has been corrected', () => {
  const retry = { attempts: 8, firstDelayMs: 60_000, maxDelayMs: 60_000 };

  function withClock(state: MemoryState, offsetMs: number): InboxBench {
    return new InboxBench({ store: new MemoryStore(state), retry, concurrency: 3 }, START + offsetMs);
  }

  it('delays no delivery after the next start, tried or not', async () => {
    const state = new MemoryState();
    const ahead = withClock(state, DAY);
    for (const id of ['failed', 'running', 'waiting', 'behind']) await ahead.deliver(id);
    await ahead.calls[0]?.fail();
    const closing = ahead.inbox.close({ timeoutMs: 0 });
    await ahead.advance(0);
    await closing;
    const right = withClock(state, 0);
    await turns();
    await right.advance(0);
    expect(right.calls).toHaveLength(3);
    for (const { finish } of right.calls) await finish();
    expect(right.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 4 } });
  });

  it('delays no delivery that a process with the wrong time has left', async () => {
    const state = new MemoryState();
    const [right, ahead] = [withClock(state, 0), withClock(state, DAY)];
    await right.advance(0);
    right.inbox.update({ concurrency: 1 });
    await ahead.deliver('a');
    await ahead.last.fail();
    await right.advance(5000);
    expect(right.calls.map(({ delivery, attempt }) => [delivery.id, attempt])).toEqual([['a', 2]]);
  });

  it('does not advance a retry whose delay is allowed', async () => {
    const bench = withClock(new MemoryState(), 0);
    await bench.deliver('a');
    await bench.last.fail();
    for (let at = 0; at < 8; at += 1) await bench.advance(5000);
    expect(bench.calls).toHaveLength(1);
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(2);
  });
});
