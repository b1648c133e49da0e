import { problem } from '../answers/answers.ts';

/** The header that a request of the page has. Another origin may send it only after a preflight, which is not answered. */
export const PAGE_HEADER = 'x-webhook-backpressure';

/** The answer for a request to change something that may come from another origin; undefined for one of the page. */
export function refuseOtherOrigins({ headers, url }: Request): Response | undefined {
  if (headers.get(PAGE_HEADER) !== '1') {
    return problem('OTHER_ORIGIN', `The request needs the header ${PAGE_HEADER}: 1.`);
  }
  const site = headers.get('sec-fetch-site');
  const isOwn = site === null ? isOwnOrigin(headers, url) : site === 'same-origin';
  return isOwn ? undefined : problem('OTHER_ORIGIN', 'The request comes from another origin.');
}

/** Browsers leave out `Sec-Fetch-Site` without TLS, and other clients leave out both headers. */
function isOwnOrigin(headers: Headers, url: string): boolean {
  const origin = headers.get('origin');
  if (origin === null) return true;
  // A proxy may replace Host. A page elsewhere cannot set X-Forwarded-Host without a preflight.
  const hosts = [headers.get('host') ?? new URL(url).host, headers.get('x-forwarded-host')];
  const host = URL.canParse(origin) ? new URL(origin).host : '';
  return host !== '' && hosts.some((own) => own !== null && hostOf(own) === host);
}

/** A host without the default port, in lower case, as an origin has it. */
function hostOf(given: string): string {
  const first = (given.split(',')[0] ?? '').trim();
  const address = `http://${first}`;
  return URL.canParse(address) ? new URL(address).host : first;
}
