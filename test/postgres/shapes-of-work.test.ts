import { createInbox, type Inbox, type InboxOptions } from '@webhook-backpressure/inbox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isSkipped, PostgresBed } from './bed.ts';

const COUNT = 300;

describe.skipIf(isSkipped)('an inbox on PostgreSQL', () => {
  let bed: PostgresBed;
  let inbox: Inbox;
  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(async () => {
    await inbox.close();
    await bed.dispose();
  });

  /** Processes deliveries of one key that are all stored before. */
  async function work(options: Partial<InboxOptions>): Promise<void> {
    inbox = createInbox({ store: bed.store(), verify: false, concurrency: 4, ...options });
    await inbox.opened;
    await inbox.pause();
    await Promise.all(
      Array.from({ length: COUNT }, (_, at) =>
        inbox.receive({
          headers: { 'webhook-id': String(at) },
          hint: '',
          read: (sink) => {
            sink.add(new TextEncoder().encode(`{"type":"a","group":${String(at % 3)}}`));
            return Promise.resolve('whole');
          },
        }),
      ),
    );
    await inbox.resume();
    await vi.waitFor(
      () => {
        expect(inbox.snapshot().depth).toBe(0);
      },
      { timeout: 20_000 },
    );
  }

  it('processes batches', async () => {
    const sizes: number[] = [];
    await work({ processBatch: (deliveries) => sizes.push(deliveries.length) });
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBe(COUNT);
    expect(sizes.length).toBeLessThan(10);
    expect(inbox.snapshot().totals).toMatchObject({ completed: COUNT, failed: 0, lost: 0 });
  }, 30_000);

  it('processes the newest of a group', async () => {
    await work({
      process: () => undefined,
      coalesce: ({ json }) => String((json() as { group: number }).group),
    });
    const { started, completed, coalesced } = inbox.snapshot().totals;
    expect(completed).toBe(COUNT);
    expect(started + coalesced).toBe(COUNT);
    expect(started).toBeLessThan(COUNT / 4);
  }, 30_000);

  it('splits deliveries for several handlers', async () => {
    const calls = { a: 0, any: 0 };
    await work({
      on: {
        '*:a': () => (calls.a += 1),
        '*': () => (calls.any += 1),
      },
    });
    expect(calls).toEqual({ a: COUNT, any: COUNT });
    expect(inbox.snapshot().totals).toMatchObject({ split: COUNT, completed: 3 * COUNT, failed: 0 });
  }, 30_000);
});
