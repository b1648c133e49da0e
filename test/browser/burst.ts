import type { Receiver } from './receiver.ts';

/**
 * Sends a delivery of each tenant, concurrently.
 *
 * @returns the statuses, in the same order, when all responses have arrived.
 */
export function sendBurst(
  { origin }: Receiver,
  path: '/webhooks' | '/inbox',
  tenants: readonly string[],
): Promise<number[]> {
  return Promise.all(
    tenants.map(async (tenant) => {
      const headers = { 'x-tenant': encodeURIComponent(tenant), 'content-type': 'application/json' };
      const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: '{"order":1}' });
      await response.arrayBuffer();
      return response.status;
    }),
  );
}
