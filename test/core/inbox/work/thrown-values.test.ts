import { setImmediate } from 'node:timers/promises';
import {
  createInbox,
  memoryStore,
  type InboxEvent,
  type InboxOptions,
  type InboxRequest,
} from '@webhook-backpressure/inbox';
import { afterEach, describe, expect, it } from 'vitest';
import { endings, thrownValues } from '../../../thrown-values.ts';

const ended = endings();

afterEach(async () => {
  await setImmediate();
  expect(ended).toEqual([]);
});

const request = (): InboxRequest => ({
  method: 'POST',
  url: '/webhooks',
  headers: {},
  source: undefined,
  hint: '',
  read: (body) => {
    body.add(Buffer.from('{}'));
    return Promise.resolve('whole');
  },
});

/** Receives a delivery, and returns the first event of this type. */
async function receive(type: InboxEvent['type'], options: Partial<InboxOptions>): Promise<InboxEvent> {
  const inbox = createInbox({ store: memoryStore(), verify: false, process: () => undefined, ...options });
  const reported = new Promise<InboxEvent>((resolve) => {
    inbox.subscribe((event) => {
      if (event.type === type) resolve(event);
    });
  });
  await inbox.receive(request());
  const event = await reported;
  await inbox.close();
  return event;
}

describe.each(thrownValues)('%s', (_name, value) => {
  const throwIt = (): never => {
    throw value();
  };

  it('is kept as the error of a dead letter when the handler throws it', async () => {
    const event = await receive('dead', { process: throwIt, retry: { attempts: 1 }, onDead: throwIt });
    expect(event).toMatchObject({ error: expect.any(String) as string });
    expect((event as { error: string }).error.length).toBeLessThan(5000);
  });

  it('rejects the delivery when verify throws it', async () => {
    expect(await receive('unverified', { verify: throwIt })).toMatchObject({
      error: expect.any(String) as string,
    });
  });

  it('harms nothing when a listener throws it or rejects with it', async () => {
    const inbox = createInbox({ store: memoryStore(), verify: false, process: () => undefined });
    inbox.subscribe(throwIt);
    // eslint-disable-next-line @typescript-eslint/require-await -- it rejects
    inbox.subscribe(async () => throwIt());
    expect(await inbox.receive(request())).toMatchObject({ status: 200 });
    await inbox.close();
  });
});
