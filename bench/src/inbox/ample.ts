import type { InboxOptions } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';

/**
 * An inbox that stores everything and processes nothing, as the other sides do: one
 * delivery is claimed, and stays in hand until the inbox closes.
 */
export function ampleInbox(path: string): InboxOptions {
  return {
    store: sqliteStore({ path }),
    verify: false,
    process: (_delivery, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('The inbox closes.'));
        });
      }),
    concurrency: 1,
    maxHandlingMs: 3_600_000,
    capacity: 1e9,
    maxBytes: 1e13,
  };
}
