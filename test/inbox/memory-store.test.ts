import { memoryStore } from '@webhook-backpressure/core';
import { expect, it } from 'vitest';
import { MemoryBank } from '../../packages/core/src/inbox/memory-bank.ts';
import { MemoryStore } from '../../packages/core/src/inbox/memory-store.ts';
import { storeSuite } from './store-suite.ts';
import { claim, delivery, opened, put } from './store-cases/store-words.ts';

storeSuite('memoryStore', () => {
  const bank = new MemoryBank();
  return { store: () => new MemoryStore(bank), dispose: () => undefined };
});

it('keeps the deliveries of one memoryStore from another', async () => {
  const bed = { store: memoryStore, dispose: () => undefined };
  await put(await opened(bed), [delivery('a')]);
  expect(await claim(await opened(bed), 1)).toEqual([]);
});
