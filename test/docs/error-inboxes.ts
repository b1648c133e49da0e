import { createInbox, memoryStore } from '@webhook-backpressure/inbox';

/** A store whose transactions are those of any client. */
const settling = Object.assign(memoryStore(), { settleIn: () => false });
/** Inboxes whose calls throw. */
export const inboxes = {
  full: createInbox({
    store: memoryStore(),
    process: () => new Promise(() => undefined),
    verify: false,
    capacity: 1,
  }),
  closed: createInbox({ store: memoryStore(), process: () => undefined, verify: false }),
  completingTwice: () =>
    new Promise((_, reject) => {
      const inbox = createInbox({
        store: settling,
        process: (_delivery, { complete }) => {
          try {
            void complete({});
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        },
        verify: false,
      });
      void inbox.add({ body: '' });
    }),
};
