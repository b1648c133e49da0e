// @ts-check
import { closeOnSignals } from '@webhook-backpressure/node';
import { createWorker } from '@webhook-backpressure/node/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';

const { DATABASE_URL = 'postgres://localhost/webhooks' } = process.env;
const worker = createWorker({
  store: postgresStore({ connectionString: DATABASE_URL }),
  process: ({ id, text }, { attempt }) => {
    // Your work. If it throws or rejects, the delivery is retried later, maybe by another worker.
    console.log('attempt', attempt, 'at', id + ':', text());
  },
});
closeOnSignals(worker);
console.log('working');
