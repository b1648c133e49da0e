import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { delivery, storedBytes } from '../store/cases/store-fixtures.ts';

const RETRY = { retry: { attempts: 2, firstDelayMs: 1000, maxDelayMs: 60_000 } };

/** Fails all attempts of a delivery. */
async function useUp(bench: InboxBench, id: string, body = '{}'): Promise<void> {
  await bench.deliver(id, body);
  await bench.last.fail();
  await bench.advance(1000);
  await bench.last.fail();
}

describe('a full dead-letter queue', () => {
  it('keeps a delivery unfinished, and repeats its last attempt after the longest delay', async () => {
    const bench = new InboxBench({ ...RETRY, maxDeadLetters: 1 });
    await useUp(bench, 'first');
    await useUp(bench, 'second');
    expect(bench.told('dead', 'dead-letters-full')).toEqual(['dead first', 'dead-letters-full second']);
    expect(bench.calls).toHaveLength(4);
    expect(bench.events).toContainEqual(
      expect.objectContaining({
        type: 'dead-letters-full',
        attempt: 2,
        error: 'it failed',
        retryInMs: 60_000,
      }),
    );
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 1,
      deadLetters: 1,
      totals: { dead: 1, deadLettersFull: 1 },
    });
    for (let again = 2; again < 5; again += 1) {
      const calls = bench.calls.length;
      await bench.advance(59_000);
      expect(bench.calls.length).toBe(calls);
      await bench.advance(1000);
      expect([bench.calls.length, bench.last.delivery.id, bench.last.attempt]).toEqual([
        calls + 1,
        'second',
        2,
      ]);
      if (again < 4) await bench.last.fail();
    }
    // With room again it becomes a dead letter with its actual error.
    await bench.inbox.deadLetters.purge('first');
    await bench.last.fail(new Error('the last word'));
    expect((await bench.inbox.deadLetters.get('second'))?.error).toBe('the last word');
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, deadLetters: 1 });
  });

  it('completes a delivery whose repeated attempt succeeds', async () => {
    const bench = new InboxBench({ ...RETRY, maxDeadLetters: 1 });
    await useUp(bench, 'first');
    await useUp(bench, 'second');
    await bench.advance(60_000);
    await bench.last.finish();
    expect(bench.told('completed')).toEqual(['completed second']);
  });

  it('makes the inbox fill up and refuse, and loses no delivery', async () => {
    const bench = new InboxBench({
      retry: { attempts: 1 },
      maxDeadLetters: 2,
      capacity: 4,
      highWaterMark: 1,
    });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
      expect((await bench.deliver(id)).status).toBe(200);
      await bench.last.fail();
    }
    expect((await bench.deliver('g')).status).toBe(503);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 4, deadLetters: 2 });
    expect((await bench.store.stats()).depth).toBe(4);
  });

  it('is bounded by bytes too', async () => {
    const body = 'x'.repeat(1000);
    const facts = { key: 'default', headers: { 'webhook-id': '1' }, rawBody: new TextEncoder().encode(body) };
    const bytes = storedBytes(delivery('1', facts));
    const bench = new InboxBench({ retry: { attempts: 1 }, maxDeadLetterBytes: 3 * bytes - 1 });
    for (const id of ['a', 'b', 'c']) {
      await bench.deliver(id, body);
      await bench.last.fail();
    }
    expect(bench.told('dead', 'dead-letters-full')).toEqual(['dead a', 'dead b', 'dead-letters-full c']);
  });

  it('is not exceeded by deliveries that fail together', async () => {
    const bench = new InboxBench({ retry: { attempts: 1 }, maxDeadLetters: 3, concurrency: 10 });
    for (let at = 0; at < 8; at += 1) await bench.deliver(String(at));
    await Promise.all(bench.calls.map((call) => call.fail()));
    await turns();
    expect((await bench.store.stats()).deadLetters).toBe(3);
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 5,
      deadLetters: 3,
      totals: { deadLettersFull: 5 },
    });
  });
});

describe('maxDeadLetters', () => {
  it('applies when retry.attempts is lowered below the attempts made', async () => {
    const bench = new InboxBench({
      retry: { attempts: 5, firstDelayMs: 1000 },
      maxDeadLetters: 3,
      concurrency: 5,
    });
    for (let at = 0; at < 8; at += 1) await bench.deliver(String(at));
    for (const call of bench.calls.slice()) await call.fail();
    for (const call of bench.calls.slice(5)) await call.fail();
    bench.inbox.update({ retry: { attempts: 1 } });
    await bench.advance(2000);
    await bench.advance(2000);
    expect((await bench.store.stats()).deadLetters).toBe(3);
    expect((await bench.store.stats()).depth).toBe(5);
  });
});

describe('maxDeadLetterAgeMs', () => {
  it('deletes older dead letters, each with an event, and forgets their ids', async () => {
    const bench = new InboxBench({ retry: { attempts: 1 }, maxDeadLetterAgeMs: 60_000 });
    // Before that no age is trusted: the clock may be wrong.
    await bench.advance(3_600_000);
    for (const id of ['a', 'b']) {
      await bench.deliver(id);
      await bench.last.fail();
      await bench.advance(30_000);
    }
    expect(bench.told('discarded')).toEqual([]);
    await bench.advance(5000);
    expect(bench.told('discarded')).toEqual(['discarded a']);
    await bench.advance(30_000);
    expect(bench.told('discarded')).toEqual(['discarded a', 'discarded b']);
    expect(bench.inbox.snapshot()).toMatchObject({
      deadLetters: 0,
      deadLetterBytes: 0,
      totals: { discarded: 2 },
    });
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'accepted' });
  });

  it('is not limited by default', async () => {
    const bench = new InboxBench({ retry: { attempts: 1 } });
    await bench.deliver('a');
    await bench.last.fail();
    for (let day = 0; day < 10; day += 1) await bench.advance(86_400_000);
    expect(bench.inbox.snapshot().deadLetters).toBe(1);
  });
});
