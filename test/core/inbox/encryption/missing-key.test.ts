import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { MemoryState } from '../../../../packages/core/src/inbox/store/memory/memory-state.ts';
import { MemoryStore } from '../../../../packages/core/src/inbox/store/memory/memory-store.ts';
import { InboxBench, turns } from '../inbox-bench.ts';

it('a missing key fails attempts and is no outage', async () => {
  const state = new MemoryState();
  const store = new MemoryStore(state);
  const encrypt = { keys: { gone: randomBytes(32) } };
  const before = new InboxBench({ store, encrypt, process: () => new Promise(() => undefined) });
  for (let at = 0; at < 12; at += 1) await before.deliver(String(at));
  const closing = before.inbox.close({ timeoutMs: 0 });
  await turns();
  before.clock.advance(0);
  await closing;

  const retry = { attempts: 2, firstDelayMs: 1000, maxDelayMs: 1000 };
  const bench = new InboxBench({ store: new MemoryStore(state), retry });
  for (let at = 0; at < 200 && state.stats().shelved < 12; at += 1) {
    await bench.advance(500);
    await turns();
  }
  expect(state.stats()).toMatchObject({ shelved: 12, depth: 0 });
  expect(bench.events.filter(({ type }) => type === 'outage')).toEqual([]);
  expect(bench.clock.now()).toBeLessThan(60_000);
});
