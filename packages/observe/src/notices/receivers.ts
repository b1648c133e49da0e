import { BackpressureError, checkNames } from '@webhook-backpressure/base';
import { fromBase64, randomUuid, subtle, utf8 } from '@webhook-backpressure/inbox/store';
import { hasMethods } from '../logs/source-kind.ts';
import type { Notice } from './notice.ts';

/** Anything that sends an event to an endpoint: a sender of `@webhook-backpressure/sender`. */
export interface NoticeSender {
  /** Sends an event, whose data is a {@link Notice}: JSON, whatever type a sender has for that. */
  send(event: { endpoint: string; type: string; data: never }): unknown;
}

/**
 * Who gets notices:
 *
 * - a function, whose promise ends before the next call
 * - a URL. The address of an incoming webhook of Slack (`https://hooks.slack.com/…`) gets `{ text }`, any other one the
 *   {@link Notice} as JSON
 * - a sender with the id of an endpoint, which stores the notice and retries
 */
export type NoticeReceiver =
  | ((notice: Notice) => unknown)
  | string
  | {
      /** Sends the notices. */
      readonly sender: NoticeSender;
      /** The id of the endpoint that gets them. */
      readonly endpoint: string;
    };

/** The part of `fetch` that is used, typed here because a runtime may have other types. */
declare const fetch: (
  url: string,
  init: {
    readonly method: 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly redirect: 'error';
    readonly signal: unknown;
  },
) => Promise<{
  readonly ok: boolean;
  readonly status: number;
  readonly body: { cancel(): Promise<void> } | null;
}>;
declare const AbortSignal: { timeout(ms: number): unknown };
declare const btoa: (binary: string) => string;

const TYPE = 'webhook-backpressure.notice';
const TIMEOUT_MS = 10_000;
const SLACK = /^https:\/\/hooks\.slack\.com\//i;
const WEB_URL = /^https?:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/i;
/** By the specification of Standard Webhooks. */
const MIN_SECRET_BYTES = 24;

/** Sends a notice. Throws or rejects if it could not. */
export type Send = (notice: Notice) => unknown;

/** @throws BackpressureError `ERR_WBP_NOTIFY`. No message contains an address or a secret: both may be secrets. */
export function sendingTo(to: unknown, secret: string | undefined): Send {
  if (typeof to === 'string') return toUrl(to, secret);
  if (secret !== undefined) throw wrong('secret belongs to an address in `to` that is not of Slack.');
  if (typeof to === 'function') return to as Send;
  if (typeof to !== 'object' || to === null)
    throw wrong('to must be a function, an http or https URL, or { sender, endpoint }.');
  checkNames(to, 'to', ['sender', 'endpoint'], 'ERR_WBP_NOTIFY');
  const { sender, endpoint } = to as { readonly sender?: unknown; readonly endpoint?: unknown };
  if (!hasMethods(sender, 'send')) throw wrong('to.sender must be a sender, with the method send.');
  if (typeof endpoint !== 'string' || endpoint === '')
    throw wrong('to.endpoint must be a string of at least one character.');
  return (notice) => (sender as NoticeSender).send({ endpoint, type: TYPE, data: notice as never });
}

function toUrl(url: string, secret: string | undefined): Send {
  if (!WEB_URL.test(url)) throw wrong('to must be an http or https URL without a name and password.');
  const isSlack = SLACK.test(url);
  if (secret !== undefined && isSlack)
    throw wrong('secret must be absent for Slack, which checks no signature.');
  const key = secret === undefined ? undefined : secretBytes(secret);
  return async (notice) => {
    const body = JSON.stringify(isSlack ? { text: escaped(notice.text) } : { type: TYPE, data: notice });
    const headers = key === undefined ? {} : await signature(key, body);
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      // A redirect could lead the notice, or the signature, to another place.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    // An unread body would keep the connection.
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`The answer was ${String(answer.status)}.`);
  };
}

function secretBytes(secret: unknown): Uint8Array {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : undefined;
  if (bytes !== undefined && bytes.byteLength >= MIN_SECRET_BYTES) return bytes;
  throw wrong(
    `secret must be base64 of at least ${String(MIN_SECRET_BYTES)} bytes, with or without the prefix whsec_.`,
  );
}

/** The headers of Standard Webhooks. */
async function signature(secret: Uint8Array, body: string): Promise<Readonly<Record<string, string>>> {
  const id = `msg_${randomUuid()}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle().importKey('raw', secret, algorithm, false, ['sign']);
  const signed = new Uint8Array(await subtle().sign('HMAC', key, utf8(`${id}.${timestamp}.${body}`)));
  const base64 = btoa(String.fromCharCode(...signed));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${base64}` };
}

/** Slack reads these characters as commands and links. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function wrong(sentence: string): BackpressureError {
  return new BackpressureError('ERR_WBP_NOTIFY', sentence);
}
