import { pageHashes } from '../page/document.ts';

/** Only the page's own script and style run, and they connect only to where the page came from. */
const POLICY = [
  "default-src 'none'",
  `script-src '${pageHashes.script}'`,
  `style-src '${pageHashes.style}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What all answers have. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * What the answers have that a page asks for again when its connection is lost. On a connection that stays open, it would
 * do so again and again, and keep a server that closes from ending.
 */
export const LAST_OF_CONNECTION: Readonly<Record<string, string>> = { Connection: 'close' };
