import { describe, expect, it } from 'vitest';
import { MemoryBank } from '../../packages/core/src/inbox/memory-bank.ts';
import { MemoryStore } from '../../packages/core/src/inbox/memory-store.ts';
import { InboxBench, turns } from './inbox-bench.ts';
import { START } from './store-cases/store-words.ts';

describe('a clock that jumps', () => {
  it('back does not make a retry wait longer', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: 2000 } });
    await bench.deliver('a');
    await bench.last.fail();
    bench.wallOffsetMs -= 3_600_000;
    await bench.advance(1600);
    expect(bench.calls).toHaveLength(2);
  });

  it('forward makes it due at once, at the next look', async () => {
    const bench = new InboxBench({ retry: { firstDelayMs: 3_600_000 } });
    await bench.deliver('a');
    await bench.last.fail();
    bench.wallOffsetMs += 3_600_000;
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(2);
  });
});

describe('a clock that was ahead, and has been put right', () => {
  const DAY = 86_400_000;
  const retry = { attempts: 8, firstDelayMs: 60_000, maxDelayMs: 60_000 };

  function withClock(bank: MemoryBank, offsetMs: number): InboxBench {
    return new InboxBench({ store: new MemoryStore(bank), retry, concurrency: 3 }, START + offsetMs);
  }

  it('keeps nothing waiting at the next start, whether it has been tried or not', async () => {
    const bank = new MemoryBank();
    const ahead = withClock(bank, DAY);
    for (const id of ['failed', 'running', 'waiting', 'behind']) await ahead.deliver(id);
    await ahead.calls[0]?.fail();
    const closing = ahead.inbox.close({ timeoutMs: 0 });
    await ahead.advance(0);
    await closing;
    const right = withClock(bank, 0);
    await turns();
    await right.advance(0);
    expect(right.calls).toHaveLength(3);
    for (const { finish } of right.calls) await finish();
    expect(right.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 4 } });
  });

  it('keeps nothing waiting that a process with the wrong time still leaves behind', async () => {
    const bank = new MemoryBank();
    const [right, ahead] = [withClock(bank, 0), withClock(bank, DAY)];
    await right.advance(0);
    right.inbox.update({ concurrency: 1 });
    await ahead.deliver('a');
    await ahead.last.fail();
    await right.advance(5000);
    expect(right.calls.map(({ delivery, attempt }) => [delivery.id, attempt])).toEqual([['a', 2]]);
  });

  it('brings forward no retry that waits as long as it may', async () => {
    const bench = withClock(new MemoryBank(), 0);
    await bench.deliver('a');
    await bench.last.fail();
    for (let at = 0; at < 8; at += 1) await bench.advance(5000);
    expect(bench.calls).toHaveLength(1);
    await bench.advance(5000);
    expect(bench.calls).toHaveLength(2);
  });
});
