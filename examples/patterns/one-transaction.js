// @ts-check
// The effect of a handler, the completion of its delivery and the webhook that follows from it are one transaction.
import { createWorker } from '@webhook-backpressure/node/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { createSender } from '@webhook-backpressure/sender';
import pg from 'pg';

const { DATABASE_URL = 'postgres://localhost/shop', ENDPOINT = 'http://localhost:4000/webhooks' } =
  process.env;
const connection = { connectionString: DATABASE_URL };
const pool = new pg.Pool(connection);
await pool.query('CREATE TABLE IF NOT EXISTS payments (id text, amount integer)');

const sender = createSender({
  store: postgresStore(connection, { schema: 'outbox' }),
  endpoint: () => ({ url: ENDPOINT, secret: null }),
  allowPrivateAddresses: true,
});
const inbox = createWorker({
  store: postgresStore(connection),
  process: async ({ id, json }, { complete }) => {
    const { amount } = /** @type {{ amount: number }} */ (json());
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('INSERT INTO payments VALUES ($1, $2)', [id, amount]);
      await sender.send({ endpoint: 'bookkeeping', type: 'payment.received', data: { amount } }, { client });
      await complete(client);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  },
});

await Promise.all([inbox.opened, sender.opened]);
await inbox.add({ id: 'payment-1', body: JSON.stringify({ amount: 42 }) });
inbox.subscribe(({ type }) => {
  if (type === 'completed') console.log('completed');
});
sender.subscribe(async ({ type }) => {
  if (type !== 'delivered') return;
  console.log('delivered', (await pool.query('SELECT * FROM payments')).rows);
  await Promise.all([inbox.close(), sender.close()]);
  await pool.end();
});
