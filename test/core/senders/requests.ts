import type { RequestHeaders } from '@webhook-backpressure/senders';
import type { Sample } from '../../../packages/fire/src/samples/sample.ts';
import { samples } from '../../../packages/fire/src/samples/samples.ts';
import { unknownSenders } from './unknown-requests.ts';

/** A request as a receiver gets it. */
interface Request {
  /** The name of its profile, or undefined for an unknown sender. */
  readonly sender: string | undefined;
  readonly what: string;
  readonly headers: RequestHeaders;
  /** The expected delivery id. */
  readonly id?: string | undefined;
}

/** The headers that proxies add. */
const PROXY = {
  host: 'hooks.example.com',
  'x-forwarded-for': '203.0.113.7, 198.51.100.2',
  'x-forwarded-proto': 'https',
  'x-request-id': '0f3c8a0d5b1e4f72',
  via: '1.1 edge',
};

/** Requests of every recognized sender, and of some unknown ones, behind a proxy. */
export const requests: readonly Request[] = [
  ...samples.map((one) => received(one, one.sender)),
  ...unknownSenders.map((one) => received(one, undefined)),
];

function received({ what, headers, id }: Sample, sender: string | undefined): Request {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { sender, what, headers: { ...PROXY, ...Object.fromEntries(lower) } as RequestHeaders, id };
}
