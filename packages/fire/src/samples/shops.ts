import { sample, type Sample } from './sample.ts';

export const shops: readonly Sample[] = [
  sample(
    'shopify',
    'orders/create',
    `User-Agent: Shopify-Captain-Hook
    Content-Type: application/json
    X-Shopify-API-Version: 2026-10
    X-Shopify-Event-Id: 98880550-7158-44d4-b7cd-2c97c8a091b5
    X-Shopify-Hmac-Sha256: XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=
    X-Shopify-Shop-Domain: shop.myshopify.com
    X-Shopify-Topic: orders/create
    X-Shopify-Triggered-At: 2026-11-20T18:00:27.877041743Z
    X-Shopify-Webhook-Id: b54557e4-bdd9-4b37-8a5f-bf7d70bcd043`,
    'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  ),
  sample(
    'woocommerce',
    'order.created',
    `User-Agent: WooCommerce/10.3.0 Hookshot (WordPress/6.9)
    Content-Type: application/json
    X-WC-Webhook-Source: https://shop.example/
    X-WC-Webhook-Topic: order.created
    X-WC-Webhook-Resource: order
    X-WC-Webhook-Event: created
    X-WC-Webhook-Signature: XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=
    X-WC-Webhook-ID: 3
    X-WC-Webhook-Delivery-ID: 6b1c9f6e5d0c2a7f`,
  ),
];
