// @ts-check
import { createWorker } from '@webhook-backpressure/node/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';

const { DATABASE_URL = 'postgres://localhost/webhooks', RUN_MS = '50000' } = process.env;

/**
 * A function that a schedule starts once a minute: it handles what receivers have stored for 50 s, finishes what it has
 * begun within 8 s more, and gives the rest back. Choose both so that they fit into the time limit of the function.
 */
export async function handler() {
  const worker = createWorker({
    store: postgresStore({ connectionString: DATABASE_URL }, { pooled: true }),
    process: ({ id, text }, { attempt }) => {
      // Your work. If it throws or rejects, the delivery is retried later.
      console.log('attempt', attempt, 'at', id + ':', text());
    },
  });
  await worker.opened;
  await new Promise((resolve) => setTimeout(resolve, Number(RUN_MS)));
  return await worker.close({ timeoutMs: 8000 });
}
