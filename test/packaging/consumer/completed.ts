import type { Inbox } from '@webhook-backpressure/core';

/** The id of the next delivery that an inbox completes. */
export function completed(inbox: Inbox): Promise<string> {
  return new Promise((resolve) => {
    const end = inbox.subscribe((event) => {
      if (event.type !== 'completed') return;
      end();
      resolve(event.id);
    });
  });
}
