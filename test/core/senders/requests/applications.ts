import { request, type Request } from './request.ts';

export const GITHUB = `
  User-Agent: GitHub-Hookshot/044aadd
  Accept: */*
  Content-Type: application/json
  Content-Length: 7322
  X-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958
  X-GitHub-Event: push
  X-GitHub-Hook-ID: 292430182
  X-GitHub-Hook-Installation-Target-ID: 79929171
  X-GitHub-Hook-Installation-Target-Type: repository
  X-Hub-Signature: sha1=7d38cdd689735b008b3c702edd92eea23791c5f6
  X-Hub-Signature-256: sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c`;

export const STRIPE = `
  User-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)
  Accept: */*; q=0.5, application/xml
  Cache-Control: no-cache
  Content-Type: application/json; charset=utf-8
  Content-Length: 2314
  Stripe-Signature: t=1763600000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd`;

export const applications: readonly Request[] = [
  request(
    'gitea',
    "push, with the headers of Gogs' and GitHub's",
    `User-Agent: Go-http-client/1.1
    Content-Type: application/json
    X-Gitea-Delivery: f6266f16-1bf3-46a5-9ea4-602e06ead473
    X-Gitea-Event: push
    X-Gitea-Event-Type: push
    X-Gitea-Signature: 9490a08f7d3fd62ccacad6919c9600a0fd32c8ef36b610979934cf9df7e4af0c
    X-Gogs-Delivery: f6266f16-1bf3-46a5-9ea4-602e06ead473
    X-Gogs-Event: push
    X-Hub-Signature: sha1=0f4f1d25ab6fb1aee8d5ca3d5dc32d4aa02acce1
    X-Hub-Signature-256: sha256=9490a08f7d3fd62ccacad6919c9600a0fd32c8ef36b610979934cf9df7e4af0c
    X-GitHub-Delivery: f6266f16-1bf3-46a5-9ea4-602e06ead473
    X-GitHub-Event: push
    X-GitHub-Event-Type: push`,
    'f6266f16-1bf3-46a5-9ea4-602e06ead473',
  ),
  request('github', 'push', GITHUB, '72d3162e-cc78-11e3-81ab-4c9367dc0958'),
  request(
    'gitlab',
    'push',
    `User-Agent: GitLab/18.6.0
    Content-Type: application/json
    Idempotency-Key: 908a6d9e-45fd-46c8-97e6-c4f350f219dd
    X-Gitlab-Event: Push Hook
    X-Gitlab-Webhook-UUID: 1a2b3c4d-0000-4000-8000-000000000001
    X-Gitlab-Instance: https://gitlab.example.com
    X-Gitlab-Event-UUID: 1a2b3c4d-0000-4000-8000-000000000002
    X-Gitlab-Token: a shared secret`,
    '908a6d9e-45fd-46c8-97e6-c4f350f219dd',
  ),
  request('stripe', 'event', STRIPE),
  request(
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
  request(
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
  request(
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
  request(
    'hubspot-workflows',
    'workflow action',
    `User-Agent: HubSpot Connect 2.0 (http://dev.hubspot.com/) - WorkflowsWebhook
    Content-Type: application/json
    X-HubSpot-Request-Timestamp: 1763600000000
    X-HubSpot-Signature: 69be9bd66f96a3f3ed7ac18d1a8d6f9a38b2c6b8
    X-HubSpot-Signature-Version: v2
    X-HubSpot-Signature-v3: GMupBqijZdO2OoFsfNLc78nY01nm76QSDxKcwVzAOrg=`,
  ),
  request(
    'hubspot',
    'subscription of an app',
    `User-Agent: HubSpot Connect 2.0 (http://dev.hubspot.com/) (namespace: webhooks-nio-http-client) - WebhooksExecutorDaemon-executor
    Accept: */*
    Content-Type: application/json
    X-HubSpot-Request-Timestamp: 1763600000000
    X-HubSpot-Signature: f79b8b68e04d31c8dc9268f1858c8d28e6d54688aa94a1563b85bf452c09a43b
    X-HubSpot-Signature-v3: GMupBqijZdO2OoFsfNLc78nY01nm76QSDxKcwVzAOrg=
    X-HubSpot-Signature-Version: v1
    X-HubSpot-Timeout-Millis: 10000`,
  ),
  request(
    'merge',
    'linked account',
    `User-Agent: Merge/Webhooks
    Content-Type: application/json
    X-Merge-Webhook-Signature: 4JjQ0gUB3XWmWQ5DbGV5`,
  ),
];
