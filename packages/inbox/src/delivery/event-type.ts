import type { InboxDelivery } from './inbox-delivery.ts';

/** Headers that name the event, by the profiles of senders and the pages of their vendors. */
const HEADERS = [
  'x-github-event',
  'x-gitea-event',
  'x-gitlab-event',
  'x-shopify-topic',
  'x-event-key',
  'x-wc-webhook-topic',
  'sentry-hook-resource',
  'ce-type',
] as const;

/** Fields of a JSON body that name the event, in the order in which they are looked at. */
const FIELDS = ['type', 'event_type', 'eventType', 'event', 'topic'] as const;

/**
 * The type of the event in a delivery, such as `invoice.paid` or `push`: the header of GitHub, Gitea, GitLab, Shopify,
 * Bitbucket, WooCommerce, Sentry or CloudEvents that names it, else the first of the fields `type`, `event_type`,
 * `eventType`, `event` and `topic` of a JSON body that is a string. Undefined when there is none, or it is empty. Never
 * throws.
 */
export function eventTypeOf({ headers, json }: Pick<InboxDelivery, 'headers' | 'json'>): string | undefined {
  for (const name of HEADERS) {
    const type = headers[name];
    if (type !== undefined && type !== '') return type;
  }
  try {
    const body = json();
    if (typeof body !== 'object' || body === null) return undefined;
    for (const field of FIELDS) {
      const type = (body as Record<string, unknown>)[field];
      if (typeof type === 'string' && type !== '') return type;
    }
  } catch {
    // The body is no JSON.
  }
  return undefined;
}
