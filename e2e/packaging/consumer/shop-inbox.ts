import { type Inbox, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';

/** The options of an inbox that accepts the deliveries of one shop. */
export function shopInbox(): InboxOptions {
  return {
    store: memoryStore(),
    verify: ({ headers, rawBody }) => headers['x-shop'] === 'shop-1' && rawBody.byteLength === 2,
    process: async ({ json, id }, { attempt, signal }) => {
      const itsSignal: AbortSignal = signal;
      await Promise.resolve([json(), id, attempt, itsSignal.aborted]);
    },
  };
}

/** Sends the inbox a delivery of the shop. @returns the status of the response, and the id that was completed. */
export async function deliver(
  inbox: Inbox,
  send: (delivery: RequestInit) => Response | Promise<Response>,
): Promise<{ readonly status: number; readonly completed: string }> {
  const completed = new Promise<string>((resolve) => {
    const end = inbox.subscribe((event) => {
      if (event.type !== 'completed') return;
      end();
      resolve(event.id);
    });
  });
  const { status } = await send({
    method: 'POST',
    headers: { 'x-shop': 'shop-1', 'webhook-id': 'evt_1' },
    body: '{}',
  });
  const delivered = { status, completed: await completed };
  await inbox.close();
  return delivered;
}
