import type { RequestHeaders } from '@webhook-backpressure/senders';

/** What an adapter passes of a request beside its headers and its body. */
export interface RequestParts {
  /** Default `POST`. */
  readonly method?: string | undefined;
  /** The request target as sent, independent of where the route is mounted. Scheme and host are removed. */
  readonly url?: string | undefined;
  /** The route params of the framework. Values other than strings and lists of strings are ignored. */
  readonly params?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
}

/** The facts of a request that are stored beside its headers and its body. */
export interface RequestFacts {
  /** In upper case, such as `POST`. */
  readonly method: string;
  /** Path and query as the sender sent them, without scheme and host. */
  readonly url: string;
  /** The route params of the framework. */
  readonly params: Readonly<Record<string, string>>;
}

/** For a delivery that is encrypted. */
export const NO_REQUEST: RequestFacts = Object.freeze({ method: '', url: '', params: Object.freeze({}) });

export function requestFacts({ method = 'POST', url = '', params }: RequestParts): RequestFacts {
  return { method: method.toUpperCase(), url: targetOf(url), params: paramsOf(params) };
}

/** The part of a URL before the query. */
export function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/**
 * The headers as one string each: repeated headers are joined, as HTTP defines. The pseudo-headers of HTTP/2, such as
 * `:path`, are omitted; the facts of the request hold their values.
 */
export function headersOf(headers: RequestHeaders): Record<string, string> {
  const entries: [name: string, value: string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue;
    const one: unknown = Array.isArray(value) ? value.join(', ') : value;
    // serverless-http sets Content-Length to a number.
    entries.push([name, String(one)]);
  }
  return Object.fromEntries(entries);
}

/** Web-standard requests, and requests to a proxy, contain the scheme and the host, which no signature can rely on. */
function targetOf(url: string): string {
  const [origin] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url) ?? [];
  if (origin === undefined) return url;
  const target = url.slice(origin.length);
  return target.startsWith('/') ? target : `/${target}`;
}

/**
 * Frameworks pass strings, a list where one wildcard matched several segments, and `undefined` for an absent optional
 * param.
 */
function paramsOf(params: RequestParts['params']): Readonly<Record<string, string>> {
  const entries = Object.entries(params ?? {}).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[name, value]];
    return Array.isArray(value) ? [[name, value.join('/')]] : [];
  });
  return Object.freeze(Object.fromEntries(entries));
}
