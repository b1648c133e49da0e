import { invalid } from '@webhook-backpressure/base';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import { VerificationError } from './signatures.ts';

/** Options of a verifier whose signatures cover the full URL. */
export interface UrlOptions {
  /**
   * The start of the URL configured at the sender, up to the path that this server receives: scheme, host, a port if
   * the URL has one, and a path prefix if a proxy removes it. Example: `https://shop.example`. It is not read from the
   * request, because the sender of a forged request chooses `Host` and `X-Forwarded-Proto`.
   */
  baseUrl: string;
}

/** @throws BackpressureError `ERR_WBP_VERIFIER` unless `given` is an http or https URL without a query. */
export function checkedBaseUrl(given: unknown): string {
  if (typeof given !== 'string' || !/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/i.test(given)) {
    throw invalid(
      'ERR_WBP_VERIFIER',
      'baseUrl',
      'an http or https URL without a query, such as "https://shop.example"',
      given,
    );
  }
  return given.replace(/\/+$/, '');
}

/** The path and query. Without them the signed URL is not known. */
export function targetOf({ url }: Pick<RawDelivery, 'url'>): string {
  if (url.startsWith('/')) return url;
  throw new VerificationError('The URL of the request is not known.');
}
