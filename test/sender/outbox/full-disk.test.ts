import type { InboxStore } from '@webhook-backpressure/inbox';
import { createSender, type Sender } from '@webhook-backpressure/sender';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Scratch } from '../../sqlite/scratch.ts';

const KIB = 1024;
const senders: Sender[] = [];
let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(async () => {
  for (const sender of senders.splice(0)) await sender.close({ timeoutMs: 0 });
  scratch.dispose();
});

/** A sender whose endpoint answers when the test lets it. */
class Delivering {
  readonly delivered: string[] = [];
  readonly sender: Sender;
  #open: () => void = () => undefined;
  readonly #isOpen = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  #onDelivered: () => void = () => undefined;

  constructor(store: InboxStore) {
    this.sender = createSender({
      store,
      endpoint: () => ({ url: 'https://example.com/hook', secret: null, rate: { perSecond: 100_000 } }),
      fetch: async (_, init) => {
        await this.#isOpen;
        this.delivered.push((init?.headers as Record<string, string>)['webhook-id'] ?? '');
        return new Response(null, { status: 204 });
      },
    });
    senders.push(this.sender);
    this.sender.subscribe(({ type }) => {
      if (type === 'delivered') this.#onDelivered();
    });
  }

  open(): void {
    this.#open();
  }

  /** Resolves when nothing is unfinished. */
  async emptied(): Promise<void> {
    while (this.sender.snapshot().depth > 0)
      await new Promise<void>((resolve) => {
        this.#onDelivered = resolve;
      });
  }
}

it.each([false, true])(
  'rejects what does not fit on the disk, delivers all that was accepted, and accepts more then, in a thread: %s',
  async (thread) => {
    const path = scratch.file();
    const bed = new Delivering(sqliteStore({ path, thread, maxFileBytes: 512 * KIB }));
    const { sender } = bed;
    const data = 'x'.repeat(10 * KIB);
    const accepted: string[] = [];
    let refusal: unknown;
    for (let at = 0; refusal === undefined && at < 1000; at += 1) {
      await sender.send({ endpoint: 'a', type: 't', data, id: String(at) }).then(
        ({ id }) => accepted.push(id),
        (error: unknown) => {
          refusal = error;
        },
      );
    }
    expect(refusal).toMatchObject({ code: 'ERR_WBP_SENDER_STORE' });
    expect(accepted.length).toBeGreaterThan(10);
    bed.open();
    await bed.emptied();
    expect([...bed.delivered].sort()).toEqual([...accepted].sort());
    // After an error the store rests, and `send` rejects meanwhile.
    const more = await vi.waitFor(() => sender.send({ endpoint: 'a', type: 't', data, id: 'more' }), 10_000);
    expect(more).toEqual({ id: 'more', status: 'accepted' });
    await bed.emptied();
    expect(bed.delivered.at(-1)).toBe('more');
    await sender.close();
  },
);
