import {
  createInbox,
  createWorker,
  memoryStore,
  type ReceivingStore,
  type WorkerOptions,
} from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { Tier } from './tier.ts';

const RECEIVING = [
  'verify',
  'context',
  'redact',
  'id',
  'keyGenerator',
  'handshake',
  'senders',
  'dryRun',
].concat([
  'pressure',
  'successStatus',
  'maxBodyBytes',
  'maxWaitMs',
  'overflow',
  'statusCode',
  'retryAfter',
  'shed',
]);
const WORKING = [
  'onDead',
  'ordered',
  'concurrency',
  'maxStartsPerSecond',
  'maxConcurrencyPerKey',
  'maxHandlingMs',
].concat(['retry', 'retentionMs', 'maxRemembered', 'maxDeadLetterAgeMs', 'keepCompletedMs', 'maxKeptBytes']);

/** A store that only receives. */
function receivingStore(): ReceivingStore {
  const store = memoryStore();
  return {
    open: (nowMs) => store.open(nowMs),
    put: (batch, options) => store.put(batch, options),
    stats: () => store.stats(),
    close: (nowMs) => store.close(nowMs),
  };
}

describe('a receiver without workers', () => {
  it.each(WORKING)('refuses the option %s of the workers, also in an update', async (name) => {
    const store = new Tier().store();
    const options = { store, verify: false, [name]: 1 } as const;
    expect(() => createInbox(options as never)).toThrow(expect.objectContaining({ code: 'ERR_WBP_ROLE' }));
    const receiver = createInbox({ store, verify: false });
    expect(() => {
      receiver.update({ [name]: 1 });
    }).toThrow(expect.objectContaining({ code: 'ERR_WBP_ROLE' }));
    await receiver.close();
  });

  it('takes an option that is undefined for an absent one', async () => {
    const receiver = createInbox({ store: new Tier().store(), verify: false, concurrency: undefined });
    expect(receiver.snapshot().role).toBe('receiver');
    await receiver.close();
  });

  it('is refused on a store that no other process can use', () => {
    const options = { store: memoryStore(), verify: false } as const;
    expect(() => createInbox(options)).toThrow(expect.objectContaining({ code: 'ERR_WBP_PROCESS' }));
  });

  it('has no dead letters, lists or pauses on a store that only receives', async () => {
    const receiver = createInbox({ store: receivingStore(), verify: false });
    await new Promise(setImmediate);
    for (const call of [
      () => receiver.deadLetters.list(),
      () => receiver.deadLetters.redrive('all'),
      () => receiver.pending.list(),
      () => receiver.completed.replay('all'),
      () => receiver.pause(),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'ERR_WBP_ROLE' });
    }
    expect(receiver.snapshot()).toMatchObject({
      depth: 0,
      isStoreFailing: false,
      totals: { storeFailures: 0 },
    });
    await receiver.close();
  });
});

describe('workers without a receiver', () => {
  it.each(RECEIVING)('refuse the option %s of the receivers', (name) => {
    const options = { store: memoryStore(), process: () => undefined, [name]: 1 };
    expect(() => createWorker(options as WorkerOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_ROLE' }),
    );
  });

  it('need process, and a store that has deliveries for them', () => {
    expect(() => createWorker({ store: memoryStore() })).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_PROCESS' }),
    );
    const options = { store: receivingStore(), process: () => undefined } as unknown as WorkerOptions;
    expect(() => createWorker(options)).toThrow(expect.objectContaining({ code: 'ERR_WBP_ROLE' }));
  });
});
