import type { RequestHeaders } from '../../senders/sender-profile.ts';

/** What an adapter shows of a request beside its headers and its body. */
export interface RequestParts {
  /** Default `POST`. */
  readonly method?: string | undefined;
  /** The target of the request as the sender sent it, whatever it was mounted under. Scheme and host are cut off. */
  readonly url?: string | undefined;
  /** The route params of the framework. What is no string, nor a list of strings, is left out. */
  readonly params?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
}

/** What is known of a request beside its headers and its body. Stored with the delivery. */
export interface RequestFacts {
  /** In upper case, such as `POST`. */
  readonly method: string;
  /** Path and query as the sender sent them, without scheme and host. */
  readonly url: string;
  /** What the route of the framework found in the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** Of a delivery that no request brought, or that an older release stored. */
export const NO_REQUEST: RequestFacts = Object.freeze({ method: '', url: '', params: Object.freeze({}) });

/** The facts of a request as its adapter shows it. */
export function requestFacts({ method = 'POST', url = '', params }: RequestParts): RequestFacts {
  return { method: method.toUpperCase(), url: targetOf(url), params: paramsOf(params) };
}

/** Up to the query. */
export function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/**
 * A header that came several times is one list, as HTTP says. The pseudo headers of HTTP/2, such as `:path`, are no
 * headers: what they say is in the facts of the request.
 */
export function headersOf(headers: RequestHeaders): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || name.startsWith(':')) return [];
    return [[name, typeof value === 'string' ? value : value.join(', ')]];
  });
  return Object.fromEntries(entries);
}

/** Web-standard requests, and requests to a proxy, name the scheme and the host, which no signature can rely on. */
function targetOf(url: string): string {
  const [origin] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url) ?? [];
  if (origin === undefined) return url;
  const target = url.slice(origin.length);
  return target.startsWith('/') ? target : `/${target}`;
}

/**
 * Frameworks give strings, a list where one wildcard matched several segments, and `undefined` for what is optional and
 * was not there.
 */
function paramsOf(params: RequestParts['params']): Readonly<Record<string, string>> {
  const entries = Object.entries(params ?? {}).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[name, value]];
    return Array.isArray(value) ? [[name, value.join('/')]] : [];
  });
  return Object.freeze(Object.fromEntries(entries));
}
