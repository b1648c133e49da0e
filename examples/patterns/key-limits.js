// @ts-check
// Handlers that call an API with limits for each customer: no customer gets more calls per second or concurrently than the
// API allows, and one whose call was answered with 429 is not called again before it may be. The others go on.
import { createServer } from 'node:http';
import { memoryStore, RetryAfter, webhookInbox } from '@webhook-backpressure/node/inbox';

/** @type {Map<string, import('@webhook-backpressure/node/inbox').KeyLimits>} A table of your database, which may change. */
const plans = new Map();
plans.set('small', { perSecond: 5, burst: 1 }).set('large', { perSecond: 50, maxConcurrent: 4 });
/** @type {{ small: number[], large: number[] }} When the calls of each customer began. */
const calls = { small: [], large: [] };

const webhooks = webhookInbox({
  store: memoryStore(),
  verify: false,
  keyGenerator: ({ path }) => path.split('/')[1],
  limits: (customer) => plans.get(customer),
  process: async ({ key, id }, { attempt }) => {
    calls[/** @type {'small' | 'large'} */ (key)].push(performance.now());
    // As if the API had answered with 429 and `Retry-After: 2`.
    if (id === 'small 0' && attempt === 1) throw new RetryAfter(2);
    await new Promise((resolve) => setTimeout(resolve, 20));
  },
});

const server = createServer(webhooks).listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const ids = [
    'small 0',
    'small 1',
    'small 2',
    ...Array.from({ length: 20 }, (_, at) => `large ${String(at)}`),
  ];
  for (const id of ids) {
    const url = `http://127.0.0.1:${String(port)}/${String(id.split(' ')[0])}`;
    void fetch(url, { method: 'POST', headers: { 'webhook-id': id } });
  }
});

webhooks.inbox.subscribe(({ type }) => {
  if (type !== 'completed' || webhooks.inbox.snapshot().totals.completed < 23) return;
  const [first = 0, second = 0, third = 0] = calls.small;
  const lastOfLarge = calls.large.at(-1) ?? Infinity;
  console.log('no call of small for two seconds after its 429:', second - first >= 2000);
  console.log('then no more than 5 a second:', third - second >= 190);
  console.log('large went on in the meantime:', lastOfLarge < second);
  server.close();
  server.closeAllConnections();
  void webhooks.inbox.close();
});
