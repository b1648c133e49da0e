import { type InboxStore, memoryStore } from '@webhook-backpressure/inbox';

export interface SlowStore {
  readonly store: InboxStore;
  /** Ends the attempt to open it that is in progress. */
  readonly open: () => void;
  readonly fail: () => void;
}

/** A store in memory whose attempts to open it the test ends. */
export function slowStore(): SlowStore {
  const store = memoryStore();
  const openNow = store.open.bind(store);
  let succeed: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  store.open = async (nowMs, options) => {
    await new Promise<void>((resolve, reject) => {
      succeed = resolve;
      fail = reject;
    });
    return await openNow(nowMs, options);
  };
  return {
    store,
    open: () => {
      succeed();
    },
    fail: () => {
      fail(new Error('the connection was refused'));
    },
  };
}
