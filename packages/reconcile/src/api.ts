import { BackpressureError, invalid, isRecord, parseUrl } from '@webhook-backpressure/base';
import type { Credential, SourceTools } from './source.ts';

const CODE = 'ERR_WBP_RECONCILE_SOURCE';
const API_CODE = 'ERR_WBP_RECONCILE_API';

/** What an operator can do about an answer. */
const ADVICE: Readonly<Record<number, string>> = {
  401: ' Its credential is invalid, expired or revoked.',
  403: ' Its credential lacks a permission, or has made too many requests.',
  404: ' It does not exist, or its credential may not read it.',
};

/** The error for an answer of an API that is not the expected one. */
export function apiError(sentence: string): BackpressureError {
  return new BackpressureError(API_CODE, sentence);
}

/** An API that rejects its credential does so for each request. */
export class Unauthorized extends BackpressureError {}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/** An API with one base URL and one credential. */
export class Api {
  readonly #origin: string;
  readonly #path: string;
  readonly #credential: Credential;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(base: URL, credential: Credential, headers: Readonly<Record<string, string>>) {
    this.#origin = base.origin;
    this.#path = base.pathname.replace(/\/+$/, '');
    this.#credential = credential;
    this.#headers = { 'user-agent': 'webhook-backpressure', ...headers };
  }

  url(path: string): URL {
    return new URL(this.#origin + this.#path + path);
  }

  /** @throws BackpressureError `ERR_WBP_RECONCILE_API` for any status but 2xx. */
  async call(url: URL, tools: SourceTools, method: 'GET' | 'POST' = 'GET', redirects = 0): Promise<Response> {
    const called = `${method} ${url.origin}${url.pathname}`;
    // The URL of a next page or a redirect comes from an answer: another host must not get the credential, nor be believed.
    if (url.origin !== this.#origin) throw apiError(`${called} is not at ${this.#origin}.`);
    const { signal, fetch } = tools;
    const headers = { ...this.#headers, authorization: `Bearer ${await secretOf(this.#credential)}` };
    const response = await fetch(url, { method, signal, headers, redirect: 'manual' });
    const { ok, status } = response;
    if (ok) return response;
    const location = REDIRECTS.has(status) ? response.headers.get('location') : null;
    // GitHub redirects from the old name of a repository.
    const moved = location === null || redirects === MAX_REDIRECTS ? undefined : parseUrl(location, url);
    if (moved !== undefined) return this.call(moved, tools, method, redirects + 1);
    const sentence = `${called} answered ${String(status)}.${ADVICE[status] ?? ''}`;
    throw status === 401 ? new Unauthorized(API_CODE, sentence) : apiError(sentence);
  }
}

/** Detects a list that shows the same page again, which would never end. */
export class PageWatch {
  readonly #firsts = new Set<unknown>();

  /** @param first - the id of the first item. */
  note(first: unknown): void {
    if (this.#firsts.has(first)) throw apiError('The list shows the same page again, so it does not end.');
    this.#firsts.add(first);
  }
}

/** @throws BackpressureError `ERR_WBP_RECONCILE_API`, without the text: it may be an event. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw apiError('The API did not answer with JSON.');
  }
}

export function isRecords(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every(isRecord);
}

/** @throws BackpressureError `ERR_WBP_RECONCILE_SOURCE` */
export function baseUrlOf(given: unknown): URL {
  const url = typeof given === 'string' ? parseUrl(given) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url !== undefined && isHttp && url.username + url.password + url.search + url.hash === '') return url;
  throw new BackpressureError(
    CODE,
    'baseUrl must be an absolute URL of https or http without credentials, query and fragment.',
  );
}

/** The message does not contain the value. */
export function checkedCredential(given: unknown, option: string): Credential {
  if (typeof given === 'function') return given as Credential;
  if (typeof given === 'string' && isSecret(given)) return given;
  const kind = typeof given === 'string' ? 'another string' : typeof given;
  const rule = '1 to 4,096 visible ASCII characters, or a function that returns them';
  throw new BackpressureError(CODE, `${option} must be ${rule}, but was ${kind}.`);
}

async function secretOf(credential: Credential): Promise<string> {
  if (typeof credential === 'string') return credential;
  const secret: unknown = await credential();
  if (typeof secret === 'string' && isSecret(secret)) return secret;
  throw new BackpressureError(CODE, 'The credential must be 1 to 4,096 visible ASCII characters.');
}

/** Of other characters, `fetch` throws an error that shows the whole value. */
function isSecret(value: string): boolean {
  return /^[\x21-\x7e]{1,4096}$/.test(value);
}

/** @throws BackpressureError `ERR_WBP_RECONCILE_SOURCE` unless it is a list of 1 to `max` strings that match. */
export function checkStrings(option: string, given: unknown, pattern: RegExp, max: number, of: string): void {
  const isList = Array.isArray(given) && given.length >= 1 && given.length <= max;
  if (isList && given.every((one) => typeof one === 'string' && pattern.test(one))) return;
  const shown: unknown = isList ? given.find((one) => typeof one !== 'string' || !pattern.test(one)) : given;
  throw invalid(CODE, option, `1 to ${String(max)} ${of}`, shown);
}
