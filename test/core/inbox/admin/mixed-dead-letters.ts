import type { InboxOptions, StoredDelivery } from '@webhook-backpressure/inbox';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { delivery, opened, put } from '../store/cases/store-fixtures.ts';

export const MANY = { maxDeadLetters: 200_000 };

/** Dead letters in a memory that inboxes share. */
export async function buried(ones: readonly StoredDelivery[]): Promise<MemoryState> {
  const memory = new MemoryState();
  const store = await opened({ store: () => new MemoryStore(memory), dispose: () => undefined });
  const limits = { capacity: 1e6, maxBytes: 1e12, maxDeadLetterBytes: 1e12, ...MANY };
  await put(store, ones, { isOverflow: true, limits });
  return memory;
}

/** `count` dead letters: every fourth is of stripe, the others are of github. */
export function mixed(count: number): StoredDelivery[] {
  return Array.from({ length: count }, (_, at) =>
    at % 4 === 0
      ? delivery(`s${String(at)}`, { sender: 'stripe' })
      : delivery(`g${String(at)}`, { sender: 'github', headers: { 'x-github-event': 'push' } }),
  );
}

/** Counts the calls of a store, by name. */
class CountedStore extends MemoryStore {
  readonly counts = new Map<string, number>();

  constructor(memory: MemoryState) {
    super(memory);
    for (const [name, call] of Object.entries(this) as [string, unknown][]) {
      if (typeof call !== 'function') continue;
      Object.defineProperty(this, name, {
        value: (...args: unknown[]): unknown => {
          this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
          return (call as (...given: unknown[]) => unknown)(...args);
        },
      });
    }
  }
}

export async function over(
  ones: readonly StoredDelivery[],
  options: Partial<InboxOptions> = {},
): Promise<{ readonly bench: InboxBench; readonly store: CountedStore; readonly memory: MemoryState }> {
  const memory = await buried(ones);
  const store = new CountedStore(memory);
  const bench = new InboxBench({ store, concurrency: 1, ...options });
  await turns();
  return { bench, store, memory };
}
