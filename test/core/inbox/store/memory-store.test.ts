import { memoryStore } from '@webhook-backpressure/inbox';
import { expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { storeSuite } from './store-suite.ts';
import { claim, delivery, opened, put } from './cases/store-fixtures.ts';

storeSuite('memoryStore', () => {
  const state = new MemoryState();
  return { store: () => new MemoryStore(state), dispose: () => undefined };
});

it('separates the deliveries of two memory stores', async () => {
  const bed = { store: memoryStore, dispose: () => undefined };
  await put(await opened(bed), [delivery('a')]);
  expect(await claim(await opened(bed), 1)).toEqual([]);
});

it('returns a copy of the bytes to each caller', async () => {
  const bench = new InboxBench({ retry: { attempts: 2, firstDelayMs: 0 } });
  await bench.deliver('a', 'as it came');
  const seen: string[] = [];
  for (const attempt of [1, 2]) {
    await bench.advance(100);
    expect(bench.last.attempt).toBe(attempt);
    seen.push(bench.last.delivery.text());
    bench.last.delivery.rawBody.fill(0);
    await bench.last.fail();
  }
  for (let look = 0; look < 2; look += 1) {
    const dead = await bench.inbox.deadLetters.get('a');
    seen.push(dead?.text() ?? '');
    dead?.rawBody.fill(0);
  }
  await bench.inbox.deadLetters.redrive('a');
  await bench.advance(100);
  seen.push(bench.last.delivery.text());
  expect(new Set(seen)).toEqual(new Set(['as it came']));
});

it('returns frozen headers', async () => {
  const bench = new InboxBench();
  await bench.deliver('a', '{}', { 'x-one': '1' });
  expect(() => {
    (bench.last.delivery.headers as Record<string, string>)['x-one'] = '2';
  }).toThrow(TypeError);
});

it('leaves a key its turn when a resume changes nothing', async () => {
  const store = await opened({ store: memoryStore, dispose: () => undefined });
  await put(store, [delivery('a1', { key: 'a' }), delivery('b1', { key: 'b' })]);
  await store.resume('a');
  expect((await claim(store, 1)).map(({ id }) => id)).toEqual(['a1']);
});
