/** A delivery as Shopify sends it: recognized by its headers, one of which holds an id. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'user-agent': 'Shopify-Captain-Hook',
  'x-shopify-topic': 'orders/create',
  'x-shopify-shop-domain': 'example.myshopify.com',
  'x-shopify-hmac-sha256': 'XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=',
};

export const ID_HEADER = 'x-shopify-webhook-id';

/** 1 kB, since all of it is written to the disk. */
export const BODY: string = JSON.stringify({
  id: 820982911946154500,
  email: 'jon@example.com',
  total_price: '403.00',
  line_items: Array.from({ length: 11 }, (_, line) => ({
    variant_id: 447654529 + line,
    sku: `IPOD-342-${String(line)}`,
    title: 'IPod Touch 8GB',
    quantity: 1,
  })),
});

export function headersOf(id: string): Record<string, string> {
  return { ...HEADERS, [ID_HEADER]: id };
}

/** An id that comes once only. */
export function idAt(index: number): string {
  return `b54557e4-bdd9-4b37-8a5f-${index.toString(16).padStart(12, '0')}`;
}

/** Whether a receiver has acknowledged a delivery: ours with 202, since it knows the sender, the others with 200. */
export function isAcknowledged(status: number | undefined): boolean {
  return status === 200 || status === 202;
}
