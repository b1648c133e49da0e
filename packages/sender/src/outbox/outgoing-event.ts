import { randomUUID } from 'node:crypto';
import { BackpressureError, checkNames, invalid } from '@webhook-backpressure/base';
import type { Json, StoredDelivery } from '@webhook-backpressure/inbox';
import { checkJson, NotJsonError } from '@webhook-backpressure/inbox/store';
import { checkEndpointId } from '../options/endpoint-id.ts';
import { checkedHeaders } from './event-headers.ts';

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
  checkText('type', type);
  if (id !== undefined) checkId(id);
  return {
    key: endpoint,
    id: id ?? `msg_${randomUUID()}`,
    isIdGenerated: id === undefined,
    sender: undefined,
    request: NO_REQUEST,
    context: null,
    headers: checkedHeaders(headers),
    rawBody: bodyOf(type, jsonOf(data), maxEventBytes),
    receivedAtMs: Math.min(Math.max(0, atMs), LAST_DATE_MS),
    sealedBy: undefined,
    fingerprint: undefined,
  };
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

function checkText(field: string, value: unknown): void {
  if (typeof value === 'string' && value.length >= 1 && value.length <= MAX_CHARACTERS) return;
  throw invalid('ERR_WBP_EVENT', field, 'a string of 1 to 256 characters', value);
}

function checkId(id: unknown): void {
  if (typeof id === 'string' && ID.test(id) && id !== RESERVED_ID) return;
  const rule = '1 to 256 printable ASCII characters without spaces and dots, and not "all"';
  throw invalid('ERR_WBP_EVENT', 'id', rule, id);
}
