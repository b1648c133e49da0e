import type { InboxStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { LEASE, START } from '../store/cases/store-fixtures.ts';

/** Two stores with the same deliveries, for two processes one after another. */
function twoLives(): [InboxStore, InboxStore] {
  const state = new MemoryState();
  return [new MemoryStore(state), new MemoryStore(state)];
}

describe('a process that has died', () => {
  it('leaves its deliveries to the next one, which runs one of them at a time beside the others', async () => {
    const [first, second] = twoLives();
    const dying = new InboxBench({ store: first, concurrency: 3 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) await dying.deliver(id);
    const next = new InboxBench({ store: second, concurrency: 10 }, START + LEASE);
    // It has free workers, and claims repeatedly.
    for (let at = 0; at < 10; at += 1) await next.advance(1000);
    const begun = next.calls.map(({ delivery }) => delivery.id);
    expect(begun.filter((id) => 'abc'.includes(id))).toHaveLength(1);
    expect(begun.filter((id) => 'de'.includes(id))).toHaveLength(2);
    for (let at = 0; at < 5; at += 1) await next.calls[at]?.finish();
    expect(next.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 5 } });
  });

  it('leaves a delivery that kills every process to become a dead letter after its attempts and one more', async () => {
    const state = new MemoryState();
    const retry = { attempts: 3 };
    let wallMs = START;
    let bench = new InboxBench({ store: new MemoryStore(state), retry });
    await bench.deliver('poison');
    let lives = 1;
    while ((await bench.inbox.deadLetters.get('poison')) === undefined) {
      expect(lives).toBeLessThan(10);
      wallMs += LEASE;
      // A new process; the old one makes no more calls.
      bench = new InboxBench({ store: new MemoryStore(state), retry }, wallMs);
      await bench.advance(5000);
      lives += bench.calls.length;
    }
    expect(lives).toBe(4);
    expect(await bench.inbox.deadLetters.get('poison')).toMatchObject({
      reason: 'dead',
      error: expect.stringContaining('ended during the last of 3 attempts') as string,
    });
    expect(bench.inbox.snapshot().depth).toBe(0);
  });
});

it('moves a delivery to the dead-letter queue when it has used more attempts than are allowed now', async () => {
  const [first, second] = twoLives();
  const before = new InboxBench({ store: first, retry: { attempts: 5, firstDelayMs: 0, maxDelayMs: 0 } });
  await before.deliver('a');
  for (let at = 0; at < 3; at += 1) {
    await before.last.fail();
    await before.advance(1000);
  }
  const closing = before.inbox.close({ timeoutMs: 0 });
  await before.advance(0);
  await closing;
  const after = new InboxBench({ store: second, retry: { attempts: 2, firstDelayMs: 0 } }, START + 10_000);
  await after.advance(5000);
  expect(after.calls).toEqual([]);
  const letter = await after.inbox.deadLetters.get('a');
  expect(letter?.error).toContain('or retry.attempts was lowered since');
});
