import { memoryStore } from '@webhook-backpressure/inbox';

const STEP_MS = 5;

/**
 * The first attempt fails for every tenth delivery: were it all of them, the inbox would assume an outage and pause.
 *
 * @returns {Omit<import('@webhook-backpressure/inbox').InboxOptions<never>, 'context'>}
 */
export function inboxOptions() {
  return {
    store: memoryStore(),
    maxBodyBytes: 100_000,
    retry: { firstDelayMs: 20 },
    verify: ({ headers, text }) => {
      if (headers['x-signature'] === 'unknown') throw Object.assign(new Error('no keys'), { status: 503 });
      return headers['x-signature'] === String(text().length);
    },
    process: async ({ json }, { attempt, signal }) => {
      const { n = 0 } = /** @type {{ n?: number }} */ (json());
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      if ((attempt === 1 && n % 10 === 1) || signal.aborted) throw new Error('once more');
    },
  };
}
