import { parseUrl } from '@webhook-backpressure/base';
import { refused } from '../answers/answers.ts';

/** The header that a request of the page has. Another origin may send it only after a preflight, which is not answered. */
const PAGE_HEADER = 'x-webhook-backpressure';

/**
 * Refuses a request that a page of another origin sends. A middleware for CORS in front may let such a page read the
 * answer.
 */
export function refuseOtherOrigins({ headers, url }: Request): void {
  const site = headers.get('sec-fetch-site');
  const isOwn = site === null ? isOwnOrigin(headers, url) : site === 'same-origin' || site === 'none';
  if (!isOwn) throw refused('OTHER_ORIGIN', 'The request comes from another origin.');
}

/** Refuses a request to change something that the page has not made. */
export function refuseOtherSenders({ headers }: Request): void {
  if (headers.get(PAGE_HEADER) !== '1') {
    throw refused('OTHER_ORIGIN', `The request needs the header ${PAGE_HEADER}: 1.`);
  }
  // An address that a user types or opens.
  if (headers.get('sec-fetch-site') === 'none') {
    throw refused('OTHER_ORIGIN', 'The request comes from another origin.');
  }
}

/** Browsers leave out `Sec-Fetch-Site` without TLS, and other clients leave out both headers. */
function isOwnOrigin(headers: Headers, url: string): boolean {
  const origin = headers.get('origin');
  if (origin === null) return true;
  const parsed = parseUrl(origin);
  if (parsed === undefined) return false;
  const { protocol, host } = parsed;
  // A proxy may replace Host. A page elsewhere cannot set X-Forwarded-Host without a preflight.
  const own = [headers.get('host') ?? new URL(url).host, headers.get('x-forwarded-host')];
  return host !== '' && own.some((given) => given !== null && hostOf(given, protocol) === host);
}

/** A host as an origin has it: in lower case, and without the default port of the protocol. */
function hostOf(given: string, protocol: string): string {
  const [first = ''] = given.split(',');
  return parseUrl(`${protocol}//${first.trim()}`)?.host ?? '';
}
