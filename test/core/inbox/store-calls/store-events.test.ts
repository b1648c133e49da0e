import { createInbox, type InboxStore, memoryStore, type StoreEvent } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { delivery, put, START } from '../store/cases/store-fixtures.ts';

const OLD: StoreEvent = { type: 'warning', code: 'WBP_STORE_OLD_TRANSACTION', message: 'It is open.' };

/** A store whose events the test causes. */
function watchedStore(): { store: InboxStore; cause: (event: StoreEvent) => void; calls: string[] } {
  const memory = memoryStore();
  const calls: string[] = [];
  const listeners: ((event: StoreEvent) => void)[] = [];
  const open = memory.open.bind(memory);
  const store: InboxStore = Object.assign(memory, {
    watch: (listener: (event: StoreEvent) => void) => {
      calls.push('watch');
      listeners.push(listener);
    },
    open: (...options: Parameters<InboxStore['open']>) => {
      calls.push('open');
      return open(...options);
    },
  });
  return { store, calls, cause: (event) => listeners[0]?.(event) };
}

describe('the events of a store', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('are listened to once, before the store is opened', () => {
    const { store, calls } = watchedStore();
    new InboxBench({ store });
    expect(calls).toEqual(['watch', 'open']);
  });

  it('let the workers claim what another process has stored, without any time passing', async () => {
    const { store, cause } = watchedStore();
    const bench = new InboxBench({ store });
    await turns();
    await put(store, [delivery('a')]);
    await turns();
    expect(bench.calls).toEqual([]);
    cause({ type: 'due' });
    await turns();
    expect(bench.calls.map(({ delivery: { id } }) => id)).toEqual(['a']);
  });

  it('cause no call while the store opens', async () => {
    const { store, calls, cause } = watchedStore();
    const [opened, stats] = [store.open.bind(store), store.stats.bind(store)];
    const bench = new InboxBench({
      store: Object.assign(store, {
        open: async (...options: Parameters<InboxStore['open']>) => {
          await turns();
          const found = await opened(...options);
          calls.push('opened');
          return found;
        },
        stats: async () => {
          calls.push('stats');
          return await stats();
        },
      }),
    });
    cause({ type: 'due' });
    await turns();
    await bench.inbox.opened;
    await turns();
    expect(calls.slice(0, 4)).toEqual(['watch', 'open', 'opened', 'stats']);
  });

  it('start nothing after the inbox has closed', async () => {
    const { store, cause } = watchedStore();
    const bench = new InboxBench({ store });
    await put(store, [delivery('a')]);
    await bench.inbox.close();
    cause({ type: 'due' });
    await turns();
    expect(bench.calls).toEqual([]);
  });

  it('are reported if they need an operator', () => {
    const { store, cause } = watchedStore();
    const bench = new InboxBench({ store });
    cause(OLD);
    expect(bench.events).toEqual([
      { type: 'store-warning', at: 0, code: 'WBP_STORE_OLD_TRANSACTION', message: 'It is open.' },
    ]);
  });

  it('are process warnings without a listener, once for each code', () => {
    const { store, cause } = watchedStore();
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    createInbox({
      store,
      process: () => undefined,
      verify: false,
      clock: manualClock(),
      wallClock: () => START,
    });
    cause(OLD);
    cause(OLD);
    cause({ ...OLD, code: 'WBP_STORE_CLOCK' });
    expect(warn.mock.calls.map(([message, options]) => [message, options])).toEqual([
      [
        expect.stringMatching(/^It is open\. This is reported once/),
        expect.objectContaining({ code: 'WBP_STORE_OLD_TRANSACTION' }),
      ],
      [expect.any(String), expect.objectContaining({ code: 'WBP_STORE_CLOCK' })],
    ]);
  });
});
