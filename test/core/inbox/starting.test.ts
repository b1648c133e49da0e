import { createInbox, createWorker, memoryStore } from '@webhook-backpressure/inbox';
import { createReadiness } from '@webhook-backpressure/core/middleware';
import { afterEach, describe, expect, it } from 'vitest';
import { slowStore } from './slow-store.ts';

describe('a readiness probe', () => {
  let close: () => Promise<unknown> = () => Promise.resolve();
  afterEach(() => close());

  it.each(['createInbox', 'createWorker'] as const)(
    'reports that an inbox of %s is starting until its store is open, and never again',
    async (create) => {
      const { store, open } = slowStore();
      const process = (): void => undefined;
      const inbox =
        create === 'createInbox'
          ? createInbox({ store, process, verify: false })
          : createWorker({ store, process });
      const readiness = createReadiness(inbox);
      close = () => inbox.close();
      expect(readiness.answer()).toMatchObject({ status: 503, body: '{"status":"starting"}' });
      open();
      while (readiness.status() === 'starting') await Promise.resolve();
      expect(readiness.status()).toBe('ready');
      await inbox.close();
      expect(readiness.status()).toBe('closing');
    },
  );

  it('reports an inbox as ready immediately if its store opens without a wait', async () => {
    const inbox = createInbox({ store: memoryStore(), process: () => undefined, verify: false });
    expect(createReadiness(inbox).status()).toBe('ready');
    await inbox.close();
  });
});
