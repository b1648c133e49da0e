import { randomUUID } from 'node:crypto';
import { BackpressureError, checkNames, invalid, isRecord } from '@webhook-backpressure/base';
import type { Json, StoredDelivery } from '@webhook-backpressure/inbox';
import { checkJson, NotJsonError } from '@webhook-backpressure/inbox/store';
import { checkEndpointId } from '../options/endpoint-settings.ts';

/** An event to send. */
export interface OutgoingEvent {
  /** The id of the endpoint: any string of 1 to 256 characters that does not begin with `wbp-disabled:`. */
  endpoint: string;
  /** The type of the event, such as `order.updated`: 1 to 256 characters. */
  type: string;
  /** The payload: JSON data of up to 64 levels. Together with the type it takes up to `maxEventBytes`. */
  data: Json;
  /**
   * Identifies the event: 1 to 256 printable ASCII characters without spaces and dots. The same id is stored once, as long as it
   * is remembered. `all` is refused. Default: a generated id.
   */
  id?: string | undefined;
  /**
   * More headers of the request: up to 50, with printable ASCII characters, 8,192 in all. Names of Standard Webhooks
   * (`webhook-…`) and of HTTP itself are refused. They are stored as they are.
   */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The result of `send`. */
export interface SendResult {
  /** The id of the event, given or generated: the `webhook-id` of its requests. */
  readonly id: string;
  /** `duplicate`: the id was known. */
  readonly status: 'accepted' | 'duplicate';
}

const NAMES = ['endpoint', 'type', 'data', 'id', 'headers'];
const MAX_CHARACTERS = 256;
/** Printable ASCII without spaces; dots separate the parts of the signed text. */
const ID = /^[!-\-/-~]{1,256}$/;
/** Operator calls read it as every delivery: with this id, purging one dead letter would purge all. */
const RESERVED_ID = 'all';
/** The last time that has a date. */
const LAST_DATE_MS = 8_640_000_000_000_000;
const NO_REQUEST: StoredDelivery['request'] = Object.freeze({
  method: '',
  url: '',
  params: Object.freeze({}),
});
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * An event as it is stored: the type and the data as JSON. The id and the time are stored beside them, so that a repeated
 * `send` of the same event has the same bytes, and is a duplicate and not a conflict.
 *
 * @param atMs - the time of day of `send`.
 * @throws BackpressureError `ERR_WBP_EVENT`, `ERR_WBP_EVENT_SIZE` or `ERR_WBP_UNKNOWN_OPTION`
 */
export function storedEvent(event: OutgoingEvent, maxEventBytes: number, atMs: number): StoredDelivery {
  checkNames(event, 'send()', NAMES, 'ERR_WBP_EVENT');
  // Read once: a getter might return something else the next time.
  const { endpoint, type, data, id, headers } = event;
  checkEndpointId('ERR_WBP_EVENT', 'endpoint', endpoint);
  if (typeof type !== 'string' || type.length < 1 || type.length > MAX_CHARACTERS)
    throw invalid('ERR_WBP_EVENT', 'type', 'a string of 1 to 256 characters', type);
  if (id !== undefined) checkId(id);
  return {
    key: endpoint,
    id: id ?? `msg_${randomUUID()}`,
    isIdGenerated: id === undefined,
    sender: undefined,
    request: NO_REQUEST,
    context: null,
    headers: headers === undefined ? NO_HEADERS : checkedHeaders(headers),
    rawBody: bodyOf(type, jsonOf(data), maxEventBytes),
    receivedAtMs: Math.min(Math.max(0, atMs), LAST_DATE_MS),
    sealedBy: undefined,
    fingerprint: undefined,
  };
}

/**
 * Throws unless an event is as {@link storedEvent} has made it: a disk or another program may have changed it. Otherwise what
 * no receiver can read would be signed, and its failures would count as those of the endpoint.
 */
export function checkStored({ id, headers, rawBody }: StoredDelivery): void {
  checkId(id);
  checkedHeaders(headers);
  const text = decoder.decode(rawBody);
  const event: unknown = JSON.parse(text);
  if (!text.startsWith('{"type":"') || !isRecord(event) || !Object.hasOwn(event, 'data'))
    throw invalid('ERR_WBP_EVENT', 'the body', 'an object of type and data', event);
}

/** The text that `stringify` has read is stored, whatever a getter returned to the check. */
function jsonOf(data: unknown): string {
  try {
    checkJson(data, 'data');
    return JSON.stringify(data);
  } catch (error) {
    if (error instanceof NotJsonError)
      throw new BackpressureError('ERR_WBP_EVENT', `data must be JSON, but ${error.message}.`);
    throw new BackpressureError('ERR_WBP_EVENT', 'data cannot be read: a getter of it threw.', {
      cause: error,
    });
  }
}

function bodyOf(type: string, data: string, maxEventBytes: number): Uint8Array {
  const body = encoder.encode(`{"type":${JSON.stringify(type)},"data":${data}}`);
  if (body.byteLength <= maxEventBytes) return body;
  throw new BackpressureError(
    'ERR_WBP_EVENT_SIZE',
    `The type and data of an event must take at most ${String(maxEventBytes)} bytes as JSON (maxEventBytes), ` +
      `but took ${String(body.byteLength)}.`,
  );
}

function checkId(id: unknown): void {
  if (typeof id === 'string' && ID.test(id) && id !== RESERVED_ID) return;
  const rule = '1 to 256 printable ASCII characters without spaces and dots, and not "all"';
  throw invalid('ERR_WBP_EVENT', 'id', rule, id);
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,256}$/;
/** No line break and no other control character: it would begin another header, or end the request. */
const HEADER_VALUE = /^[\t -~]*$/;
const MAX_HEADERS = 50;
const MAX_HEADER_CHARACTERS = 8192;
/** Set by the sender, or part of how HTTP transfers the request. */
const REFUSED = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'content-range',
  'accept-encoding',
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
]);
const REFUSED_START = /^(webhook|proxy)-/;
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The headers of an event, with names in lower case.
 *
 * @throws BackpressureError `ERR_WBP_EVENT`, without the value of a header: it may be a token.
 */
function checkedHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (!isRecord(headers)) throw invalid('ERR_WBP_EVENT', 'headers', 'an object', headers);
  const checked = new Map<string, string>();
  let characters = 0;
  for (const [given, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const name = given.toLowerCase();
    if (!HEADER_NAME.test(name)) throw refused(given, 'is not the name of a header');
    if (REFUSED.has(name) || REFUSED_START.test(name))
      throw refused(given, 'is set by the sender or by HTTP');
    if (checked.has(name)) throw refused(given, 'is given twice');
    if (typeof value !== 'string' || !HEADER_VALUE.test(value))
      throw refused(given, 'must be a string of printable ASCII characters');
    checked.set(name, value.trim());
    characters += name.length + value.length;
  }
  if (checked.size > MAX_HEADERS || characters > MAX_HEADER_CHARACTERS) {
    throw new BackpressureError(
      'ERR_WBP_EVENT',
      `headers must be at most 50 with 8,192 characters in all, but were ${String(checked.size)} with ${String(characters)}.`,
    );
  }
  // Safe for a header that is named `__proto__`.
  return Object.fromEntries(checked);
}

function refused(name: string, problem: string): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_EVENT',
    `The header ${JSON.stringify(name.slice(0, 80))} ${problem}.`,
  );
}
