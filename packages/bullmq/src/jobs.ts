import { isUtf8 } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { BackpressureError } from '@webhook-backpressure/base';
import { bodySum } from '@webhook-backpressure/inbox/store';
import {
  inboxDelivery,
  type InboxDelivery,
  type Json,
  type StoredDelivery,
} from '@webhook-backpressure/inbox';

/** The data of a job: a verified delivery. {@link deliveryOf} reads it. */
export interface WebhookJobData {
  /** The delivery id, unique within its key. */
  readonly id: string;
  /** The key that the delivery counts against: the name of the sender by default. */
  readonly key: string;
  /** The name of the sender; null for an unknown one. */
  readonly sender: string | null;
  /** The request method in upper case, such as `POST`. */
  readonly method: string;
  /** Path and query as the sender sent them. */
  readonly url: string;
  /** The route params of the framework. */
  readonly params: Readonly<Record<string, string>>;
  /** Names in lower case, without those that the option `redact` of the inbox names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The value that the option `context` of the inbox returned; null without it. */
  readonly context: Json;
  /** The body: as it is if it is UTF-8, else its bytes in Base64. */
  readonly body: string;
  /** How `body` represents the bytes. */
  readonly encoding: 'utf8' | 'base64';
  /** When the request was received, in ISO 8601. */
  readonly receivedAt: string;
}

export function jobDataOf(delivery: StoredDelivery): WebhookJobData {
  const { id, key, sender = null, request, headers, context, rawBody, receivedAtMs } = delivery;
  const body = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  const encoding = isUtf8(body) ? 'utf8' : 'base64';
  return {
    id,
    key,
    sender,
    method: request.method,
    url: request.url,
    params: request.params,
    headers,
    context,
    body: body.toString(encoding),
    encoding,
    receivedAt: new Date(receivedAtMs).toISOString(),
  };
}

/**
 * The delivery of a job, as `process` of an inbox gets it: with the bytes that the sender signed in `rawBody`, `text()`
 * and `json()`.
 *
 * @param job - a job that {@link bullmqDoor} has added.
 * @throws BackpressureError `ERR_WBP_BULLMQ_JOB_DATA` if something else has added it.
 */
export function deliveryOf(job: { readonly data: unknown }): InboxDelivery {
  const { data } = job;
  if (!isJobData(data))
    throw new BackpressureError(
      'ERR_WBP_BULLMQ_JOB_DATA',
      `deliveryOf() requires a job that bullmqDoor() has added, but its data was ${inspect(data, { depth: 0 })}.`,
    );
  const { id, key, sender, method, url, params, headers, context, body, encoding, receivedAt } = data;
  return inboxDelivery({
    id,
    key,
    sender: sender ?? undefined,
    headers,
    context,
    request: { method, url, params },
    isIdGenerated: false,
    rawBody: new Uint8Array(Buffer.from(body, encoding)),
    receivedAtMs: Date.parse(receivedAt),
    sealedBy: undefined,
    fingerprint: undefined,
  });
}

function isJobData(data: unknown): data is WebhookJobData {
  const fields = (data ?? {}) as Partial<Record<keyof WebhookJobData, unknown>>;
  const { id, key, body, encoding, headers, params, receivedAt } = fields;
  return (
    [id, key, body, receivedAt].every((field) => typeof field === 'string') &&
    (encoding === 'utf8' || encoding === 'base64') &&
    [headers, params].every((field) => typeof field === 'object' && field !== null)
  );
}

/** 128 bits: two deliveries have the same by accident or on purpose with a negligible probability only. */
const HASH_BYTES = 16;
const RANDOM_BYTES = 9;
const RADIX = 36;

/**
 * What BullMQ recognizes a repeated delivery by. A hash, because ids and keys are arbitrary strings of any length. The
 * key is part of it: ids are unique within a key only.
 */
export function deduplicationIdOf(key: string, id: string): string {
  const pair = JSON.stringify([key, id]);
  return createHash('sha256').update(pair).digest().subarray(0, HASH_BYTES).toString('base64url');
}

/**
 * A new id for the job of a delivery. BullMQ allows neither a colon nor an integer. Redis returns the id of the first job
 * for a repeated delivery, so it contains the sum of the body, to reveal that the bodies differ.
 */
export function newJobId(delivery: StoredDelivery): string {
  return `w${bodySum(delivery).toString(RADIX)}.${randomBytes(RANDOM_BYTES).toString('base64url')}`;
}

/** The sum of the body; undefined if {@link newJobId} has not returned the id. */
export function sumIn(jobId: string): number | undefined {
  const [, sum] = /^w([0-9a-z]+)\./.exec(jobId) ?? [];
  return sum === undefined ? undefined : Number.parseInt(sum, RADIX);
}
