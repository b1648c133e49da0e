import { DurableInbox } from './durable-inbox.ts';
import type { Inbox } from './inbox.ts';
import type { InboxOptions } from './options/inbox-options.ts';

/**
 * Creates an inbox and opens its store. While a store opens asynchronously, deliveries are refused.
 *
 * @throws BackpressureError with the code of the first option that is wrong; also what the store throws synchronously
 * when it cannot be opened.
 */
export function createInbox<R = unknown>(options: InboxOptions<R>): Inbox {
  return new DurableInbox(options);
}
