import autocannon from 'autocannon';
import { answer } from '../pinned.ts';

/** As Shopify sends it, shortened. */
const DELIVERY: { method: 'POST'; headers: Record<string, string>; body: string } = {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'user-agent': 'Shopify-Captain-Hook',
    'x-shopify-topic': 'orders/create',
    'x-shopify-shop-domain': 'example.myshopify.com',
    'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
    'x-shopify-hmac-sha256': 'XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=',
  },
  body: JSON.stringify({
    id: 820982911946154500,
    email: 'jon@example.com',
    total_price: '403.00',
    line_items: [],
  }),
};

const CONNECTIONS = 50;
/** How often autocannon checks whether time is up. */
const LOOK_MS = 50;

/** What one turn of load came to. */
export interface Answers {
  readonly ok: number;
  readonly refused: number;
  readonly other: number;
}

answer(async ({ port, seconds }: { port: number; seconds: number }): Promise<Answers> => {
  const result = await autocannon({
    url: `http://127.0.0.1:${String(port)}/webhooks`,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: LOOK_MS,
    ...DELIVERY,
  });
  const refused = result['4xx'] + result['5xx'];
  return { ok: result['2xx'], refused, other: result['3xx'] + result.errors + result.timeouts };
});
