import { sample, type Sample } from './sample.ts';

export const STRIPE = `
  User-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)
  Accept: */*; q=0.5, application/xml
  Cache-Control: no-cache
  Content-Type: application/json; charset=utf-8
  Content-Length: 2314
  Stripe-Signature: t=1763600000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd`;

export const payments: readonly Sample[] = [
  sample('stripe', 'event', STRIPE),
  sample(
    'paypal',
    'event',
    `User-Agent: PayPal/AUHR-214.0-58843836
    Content-Type: application/json
    Correlation-Id: d2bfc31ba6ce1
    Paypal-Auth-Algo: SHA256withRSA
    Paypal-Auth-Version: v2
    Paypal-Cert-Url: https://api.paypal.com/v1/notifications/certs/CERT-360caa42
    Paypal-Transmission-Id: 69cd13f0-d67a-11e5-baa3-778b53f4ae55
    Paypal-Transmission-Sig: ZTCNDTsZOWPyfgNsx0qhylVrxuqUj==
    Paypal-Transmission-Time: 2026-11-20T20:01:35Z`,
  ),
  sample(
    'square',
    'second attempt',
    `User-Agent: Square Connect v2
    Content-Type: application/json
    Square-Environment: Production
    Square-Initial-Delivery-Timestamp: 2026-11-20T22:28:00Z
    Square-Retry-Number: 1
    Square-Retry-Reason: http_timeout
    X-Square-Signature: deprecated
    X-Square-HmacSha256-Signature: vtpnZKM2WVHvRkvTz2KVfuRcAVvNGLxoPm0WYxB8HEs=`,
  ),
  sample(
    'plaid',
    'transactions',
    `User-Agent: Go-http-client/2.0
    Content-Type: application/json
    Plaid-Verification: eyJhbGciOiJFUzI1NiIsImtpZCI6IjZjNTUifQ.e30.c2ln`,
  ),
  sample(
    'razorpay',
    'payment.captured',
    `User-Agent: Razorpay-Webhook/v1
    Content-Type: application/json
    Request-Id: OZ3Vqg2Tkc1wsj
    X-Razorpay-Event-Id: OZ3VqdQ4XhEPZB
    X-Razorpay-Signature: 69be9bd66f96a3f3ed7ac18d1a8d6f9a38b2c6b8`,
    'OZ3VqdQ4XhEPZB',
  ),
  sample(
    'paddle',
    'transaction.completed',
    `User-Agent: Paddle
    Content-Type: application/json
    Paddle-Signature: ts=1763600000;h1=eb4d0dc8853be92b7f063b9f3ba5233eb920a09459b6e6b2c26705b4364db151
    Paddle-Version: 1`,
  ),
  sample(
    'quickbooks',
    'change of an invoice',
    `User-Agent: intuit_notification_intuit-qbo
    Accept: application/json
    Content-Type: application/json; charset=utf-8
    Intuit-Created-Time: 2026-11-20T22:28:00Z
    Intuit-Notification-Schema-Version: v1
    Intuit-Signature: 4KmHiO4c1Z8cVtGC1CP8YVUkAVA=
    Intuit-T-Id: 1-5d9f7a2c-0a1b2c3d`,
  ),
  sample(
    'recurly',
    'JSON notification',
    `User-Agent: Recurly Webhooks
    Content-Type: application/json
    Recurly-Signature: 1763600000000,fdc9ff7cdbac4c2dc2ba3fd9d5e5a0bf9e3a`,
  ),
];
