// @ts-check
import { bullmqDoor, deliveryOf } from '@webhook-backpressure/bullmq';
import { closeOnSignals } from '@webhook-backpressure/express';
import { verifiers, webhookInbox } from '@webhook-backpressure/express/inbox';
import { collect } from '@webhook-backpressure/prometheus';
import { Queue, Worker } from 'bullmq';
import express from 'express';
import { register } from 'prom-client';

const { PORT = '3000', REDIS_HOST = '127.0.0.1', REDIS_PORT = '6379', WEBHOOK_SECRET } = process.env;
const redis = { host: REDIS_HOST, port: Number(REDIS_PORT) };

// The receiver: it verifies a delivery, adds it to the queue, and acknowledges it.
const queue = new Queue('webhooks', {
  connection: { ...redis, enableOfflineQueue: false, maxRetriesPerRequest: 1 },
  // Failed jobs stay: retry them, or remove them to accept their ids again.
  defaultJobOptions: { attempts: 5, backoff: { type: 'exponential', delay: 1000 }, removeOnComplete: true },
});
queue.on('error', (error) => {
  console.error('queue:', error.message);
});
const webhooks = webhookInbox({
  store: bullmqDoor(queue),
  // Put your sender here; docs/inbox.md lists the verifiers. `false` accepts deliveries from anyone.
  verify: WEBHOOK_SECRET === undefined ? false : verifiers.standardWebhooks({ secret: WEBHOOK_SECRET }),
});
const app = express();
app.post('/webhooks', webhooks);

// Metrics for Prometheus.
collect(webhooks.inbox);
app.get('/metrics', async (_req, res) => {
  res.type(register.contentType).send(await register.metrics());
});

// The worker: usually another program, in any number.
const worker = new Worker(
  'webhooks',
  (job) => {
    const { id, text } = deliveryOf(job);
    // Your work. If it throws or rejects, BullMQ retries the job.
    console.log('attempt', job.attemptsMade + 1, 'at', id + ':', text());
    return Promise.resolve();
  },
  { connection: redis, concurrency: 10 },
);
worker.on('error', (error) => {
  console.error('worker:', error.message);
});

const server = app.listen(Number(PORT), () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(`http://localhost:${String(port)}/webhooks`);
});
closeOnSignals([webhooks.inbox, { snapshot: () => ({ state: 'accepting' }), close: closeWorker }], {
  server,
});

async function closeWorker() {
  // Resolves when its jobs have ended. If the process dies before, BullMQ gives them to another worker.
  await worker.close();
  return { completed: 0, refused: 0, remaining: 0 };
}
