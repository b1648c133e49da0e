import { builtInSenders, type RequestHeaders, type SenderProfile } from '@webhook-backpressure/senders';
import { createAdmissionControl } from '@webhook-backpressure/core/middleware';
import type { Run } from './runs.ts';

interface Request {
  readonly headers: RequestHeaders;
}

/** The headers that proxies and clients add to every delivery. */
const COMMON = {
  host: 'hooks.example.com',
  'x-forwarded-for': '203.0.113.7, 198.51.100.2',
  'x-forwarded-proto': 'https',
  'x-request-id': '0f3c8a0d5b1e4f72',
  accept: '*/*',
  'accept-encoding': 'gzip, deflate',
  'content-type': 'application/json',
  'content-length': '2314',
};

const REQUESTS: readonly Request[] = [
  { 'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)', 'stripe-signature': 't=1,v1=52' },
  { 'user-agent': 'GitHub-Hookshot/044aadd', 'x-github-event': 'push', 'x-github-delivery': '72d3162e' },
  { 'user-agent': 'Svix-Webhooks/1.62.0', 'webhook-id': 'msg_2K', 'webhook-signature': 'v1,K5' },
  { 'user-agent': 'Go-http-client/2.0' },
].map((own) => ({ headers: { ...COMMON, ...own } }));

/**
 * Reads the delivery of requests, of which recognizing the sender is most, with the built-in profiles and so many times
 * as many invented ones with other headers.
 */
export function recognize(invented: number): Run {
  const control = createAdmissionControl<Request, []>(
    { senders: Array.from({ length: invented }, (_, i) => builtInSenders.map(inventedLike(i))).flat() },
    {
      method: () => 'POST',
      identity: (request) => request,
      targets: () => [],
      headers: ({ headers }) => headers,
      warn: () => undefined,
    },
  );
  return (count) => {
    let found = 0;
    for (let i = 0; i < count; i += 1) {
      if (control.read(REQUESTS[i & 3] as Request).key !== undefined) found += 1;
    }
    if (found !== 0.75 * count) throw new Error('Three of the four requests have a known sender.');
  };
}

function inventedLike(i: number): (profile: SenderProfile, at: number) => SenderProfile {
  return (profile, at) => ({
    ...profile,
    name: `invented-${String(i)}-${String(at)}`,
    match: { header: `x-invented-${String(i)}-${String(at)}` },
  });
}
