import type { RequestHeaders } from '@webhook-backpressure/senders';

/** A request of a sender. Signatures, ids and addresses are invented. */
export interface Request {
  /** The name of its profile, or undefined for an unknown sender. */
  readonly sender: string | undefined;
  readonly what: string;
  readonly headers: RequestHeaders;
  /** The expected delivery id. */
  readonly id?: string;
}

/** The headers that proxies add. */
const PROXY = `
  Host: hooks.example.com
  X-Forwarded-For: 203.0.113.7, 198.51.100.2
  X-Forwarded-Proto: https
  X-Request-Id: 0f3c8a0d5b1e4f72
  Via: 1.1 edge`;

/** A request with these header lines, behind a proxy. */
export function request(sender: string | undefined, what: string, raw: string, id?: string): Request {
  const lines = `${PROXY}\n${raw}`.split('\n').filter((line) => line.trim() !== '');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { sender, what, headers, ...(id === undefined ? {} : { id }) };
}
