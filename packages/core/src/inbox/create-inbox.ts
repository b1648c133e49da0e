import { DurableInbox } from './durable-inbox.ts';
import type { Inbox } from './inbox.ts';
import type { InboxOptions } from './settings/inbox-options.ts';

/**
 * Makes an inbox, and opens its store. A store that opens later, as its promise resolves, makes deliveries be refused
 * until then.
 *
 * @throws BackpressureError with the code of the first option that is wrong; and what the store throws when it cannot
 * be opened.
 */
export function createInbox<R = unknown>(options: InboxOptions<R>): Inbox {
  return new DurableInbox(options);
}
