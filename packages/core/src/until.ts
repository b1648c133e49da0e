import { inBackground } from '@webhook-backpressure/base';
/** What {@link until} observes: an intake, an inbox or a sender. `S` is the type of its snapshots. */
export interface Observed<S> {
  /** Returns the current state. */
  snapshot(): S;
  /** Calls the listener with each event. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/**
 * Resolves with the first snapshot for which `condition` returns true, so that a test waits for a state instead of a
 * time. The condition is checked immediately, and again after events. If it never becomes true, the promise never
 * settles, and the timeout of the test runner ends the test.
 *
 * @param source - an intake, an inbox or a sender.
 * @param condition - synchronous. If it throws, the promise rejects with the error.
 *
 * @example
 * ```ts
 * await until(inbox, ({ totals }) => totals.completed === 3)
 * ```
 */
export function until<S>(source: Observed<S>, condition: (snapshot: S) => boolean): Promise<S> {
  return new Promise((resolve, reject) => {
    let isScheduled = false;
    const check = (): void => {
      isScheduled = false;
      try {
        const snapshot = source.snapshot();
        if (!condition(snapshot)) return;
        resolve(snapshot);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
      unsubscribe();
    };
    const unsubscribe = source.subscribe(() => {
      if (isScheduled) return;
      isScheduled = true;
      // Some events are emitted before the change that they report is complete.
      inBackground(Promise.resolve().then(check));
    });
    check();
  });
}
