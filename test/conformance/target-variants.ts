/** Targets that a router may route to a handler at /webhooks, or below it. */
export const WEBHOOK_TARGETS: readonly string[] = [
  '/webhooks',
  '/webhooks?token=secret',
  '/webhooks#part',
  '/webhooks/',
  '/webhooks/shop?token=secret',
  '/webhooks;version=2',
  '/WebHooks',
  '/%77ebhooks',
  '/%2577ebhooks',
  '/webhoo%E2%84%AAs',
  '/webhook%C5%BF',
  '/%2Fwebhooks',
  '/webhooks%2Fshop',
  '/webhooks%3Ftoken',
  '//webhooks',
  '//host.example/webhooks',
  '/./webhooks',
  '/orders/../webhooks',
  '/orders/%2e%2E/webhooks',
  '/orders\\..\\webhooks',
  'http://host.example/webhooks?token=secret',
  'HTTP://host.example:8080/%77ebhooks',
];

/** Targets that no router routes there. */
export const OTHER_TARGETS: readonly string[] = [
  '/',
  '/orders',
  '/webhook',
  '/webhooks-admin',
  '/api/webhooks',
  '/orders?next=/webhooks',
  '/caf%C3%A9',
  'http://webhooks/orders',
];
