import { type InboxOptions, type InboxStore, type KeyLimits, memoryStore } from '@webhook-backpressure/inbox';
import { vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

export const KEYED: Partial<InboxOptions> = {
  keyGenerator: ({ headers }) => headers['x-key'],
  concurrency: 20,
};

export function limiting(limits: Record<string, KeyLimits>, more: Partial<InboxOptions> = {}): InboxBench {
  return new InboxBench({ ...KEYED, limits: (key) => limits[key], ...more });
}

export async function sendAll(bench: InboxBench, key: string, count: number, from = 0): Promise<void> {
  for (let at = from; at < from + count; at += 1)
    void bench.send(`${key}${String(at)}`, '{}', { 'x-key': key });
  await turns(30);
}

export function startedOf(bench: InboxBench, key: string): number {
  return bench.calls.filter(({ delivery }) => delivery.key === key).length;
}

/** A store and what it was asked to claim. */
export function spied(store: InboxStore = memoryStore()) {
  return { store, claimKeys: vi.spyOn(store, 'claimKeys') };
}
