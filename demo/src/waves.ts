/** Who sends what to the watched receiver, and when. Loopback only, and bounded: see {@link MAX_UNDER_WAY}. */

/** A sender of the watched receiver. Its headers identify it. */
export interface WaveSender {
  readonly headers: (id: string) => Record<string, string>;
  /** The waits between attempts. */
  readonly backoffMs: readonly number[];
  readonly honorsRetryAfter: boolean;
}

/** Deliveries of one tenant to one path. */
export interface Stream {
  readonly path: '/webhooks' | '/inbox';
  readonly tenant: string;
  readonly sender: WaveSender;
  /** Deliveries per second between the bursts, and during them. */
  readonly perSecond: number;
  readonly burstPerSecond: number;
}

/** A burst begins every minute, the first after this time. */
export const FIRST_BURST_S = 6;
const PERIOD_S = 60;
export const BURST_S = 6;

/** Longer than a delivery may wait in the queue. */
export const TIMEOUT_MS = 15_000;

/** Deliveries without a final answer. Above this number none are added, so a slow machine gets smaller bursts. */
export const MAX_UNDER_WAY = 3000;

const shopify: WaveSender = {
  headers: (id) => ({ 'x-shopify-topic': 'orders/create', 'x-shopify-webhook-id': id }),
  backoffMs: [4000, 8000, 16_000],
  honorsRetryAfter: false,
};
const stripe: WaveSender = {
  headers: () => ({ 'stripe-signature': 't=1,v1=unverified' }),
  backoffMs: [5000, 10_000, 20_000],
  honorsRetryAfter: false,
};
/** Never retries, so it only sends to the inbox. */
const github: WaveSender = {
  headers: (id) => ({ 'x-github-event': 'push', 'x-github-delivery': id }),
  backoffMs: [],
  honorsRetryAfter: false,
};
const slack: WaveSender = {
  headers: () => ({ 'x-slack-signature': 'v0=unverified' }),
  backoffMs: [1000, 10_000, 20_000],
  honorsRetryAfter: false,
};
const standard: WaveSender = {
  headers: (id) => ({ 'webhook-id': id, 'webhook-signature': 'v1,unverified' }),
  backoffMs: [2000, 4000, 8000, 16_000],
  honorsRetryAfter: true,
};

const WEBHOOKS = '/webhooks';
const INBOX = '/inbox';

/** The middleware and the inbox handle 200 per second each. */
export const STREAMS: readonly Stream[] = [
  { path: WEBHOOKS, tenant: 'bulk-import', sender: standard, perSecond: 4, burstPerSecond: 320 },
  { path: WEBHOOKS, tenant: 'northwind', sender: shopify, perSecond: 30, burstPerSecond: 90 },
  { path: WEBHOOKS, tenant: 'contoso', sender: stripe, perSecond: 30, burstPerSecond: 40 },
  { path: WEBHOOKS, tenant: 'fabrikam', sender: shopify, perSecond: 20, burstPerSecond: 30 },
  { path: WEBHOOKS, tenant: 'acme', sender: standard, perSecond: 12, burstPerSecond: 12 },
  { path: WEBHOOKS, tenant: 'support-bot', sender: slack, perSecond: 6, burstPerSecond: 10 },
  { path: INBOX, tenant: 'ledger', sender: stripe, perSecond: 25, burstPerSecond: 200 },
  { path: INBOX, tenant: 'builds', sender: github, perSecond: 10, burstPerSecond: 150 },
];

/** Deliveries per second of a stream, so many seconds after the start. */
export function rateAt({ perSecond, burstPerSecond }: Stream, seconds: number): number {
  const phase = (seconds - FIRST_BURST_S) % PERIOD_S;
  return phase >= 0 && phase < BURST_S ? burstPerSecond : perSecond;
}
