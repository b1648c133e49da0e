import { checkNumber, DAY_MS, invalid } from '@webhook-backpressure/base';
import { type CryptoKey, joined, subtle, utf8 } from '../encryption/web-crypto.ts';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';

/** Rejects a delivery as not genuine. This is the `error` of the event `unverified`. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
}

/** The delivery may be genuine, but its key is not available now: the sender is to retry. */
export class UndecidedError extends VerificationError {
  readonly status = 503;
}

/** When a signature with a timestamp is too old. */
export interface Freshness {
  /** Infinity: the timestamp is not checked. */
  readonly toleranceMs: number;
  readonly wallClock: () => number;
}

const TOLERANCE_MS = 300_000;

/**
 * @param byDefault - the tolerance of the sender; Infinity if it may retry with the first timestamp.
 * @throws BackpressureError `ERR_WBP_VERIFIER`
 */
export function freshness(
  given: { toleranceMs?: number | undefined; wallClock?: (() => number) | undefined },
  byDefault: number = TOLERANCE_MS,
): Freshness {
  const { toleranceMs = byDefault, wallClock = Date.now } = given;
  if (given.toleranceMs !== undefined)
    checkNumber('ERR_WBP_VERIFIER', 'toleranceMs', toleranceMs, 1, DAY_MS, 'milliseconds');
  if (typeof wallClock !== 'function')
    throw invalid('ERR_WBP_VERIFIER', 'wallClock', 'a function', wallClock);
  return { toleranceMs, wallClock };
}

/** The value of a required header. */
export function required({ headers }: Pick<RawDelivery, 'headers'>, name: string): string {
  const value = headers[name];
  if (value === undefined || value === '') throw new VerificationError(`The header ${name} is missing.`);
  return value;
}

/** Of a timestamp by RFC 3339, to the millisecond. More digits are left out: not every engine reads them. */
const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?)\d*(Z|[+-]\d\d:\d\d)$/i;

/**
 * Throws unless `time` is within the tolerance of the current time, before or after.
 *
 * @param unitMs - the unit of an integer, in milliseconds; 0 for text by RFC 3339.
 */
export function checkFresh(time: string, unitMs: number, { toleranceMs, wallClock }: Freshness): void {
  if (!(unitMs === 0 ? RFC_3339 : /^\d{1,15}$/).test(time)) {
    throw new VerificationError(
      `The timestamp of the signature is not ${unitMs === 0 ? 'a time' : 'a number'}.`,
    );
  }
  if (toleranceMs === Infinity) return;
  const atMs = unitMs === 0 ? Date.parse(time.replace(RFC_3339, '$1$2')) : Number(time) * unitMs;
  if (Math.abs(wallClock() - atMs) <= toleranceMs) return;
  throw new VerificationError('The timestamp of the signature is outside the tolerance.');
}

/** A signed message: parts to concatenate. */
export type Message = readonly (string | Uint8Array)[];

/** Throws unless any of the signatures was made with any of the keys over any of the messages. */
export async function checkSigned(
  keys: readonly CryptoKey[],
  messages: readonly Message[],
  signatures: readonly (Uint8Array | undefined)[],
): Promise<true> {
  let isSigned = false;
  for (const parts of messages) {
    const message = bytesOf(parts);
    for (const key of keys) {
      const expected = new Uint8Array(await subtle().sign('HMAC', key, message));
      for (const signature of signatures) isSigned = isEqual(expected, signature) || isSigned;
    }
  }
  if (isSigned) return true;
  throw new VerificationError('The signature does not match.');
}

/** A header can have many signatures, and checking one takes about 0.1 ms. Senders that rotate keys send two or three. */
const MAX_SIGNATURES = 8;

/** Throws unless any of the signatures was made over the message with the private half of any of the keys. */
export async function checkSignedBy(
  algorithm: object,
  keys: readonly CryptoKey[],
  parts: Message,
  signatures: readonly (Uint8Array | undefined)[],
): Promise<true> {
  const message = bytesOf(parts);
  for (const key of keys) {
    for (const signature of signatures.slice(0, MAX_SIGNATURES)) {
      if (signature !== undefined && (await subtle().verify(algorithm, key, signature, message))) return true;
    }
  }
  throw new VerificationError('The signature does not match.');
}

function bytesOf(parts: Message): Uint8Array {
  return joined(parts.map((part) => (typeof part === 'string' ? utf8(part) : part)));
}

/** Compares in constant time. */
export function isEqual(expected: Uint8Array, given: Uint8Array | undefined): boolean {
  if (given?.byteLength !== expected.byteLength) return false;
  let difference = 0;
  for (const [at, byte] of expected.entries()) difference |= byte ^ (given[at] as number);
  return difference === 0;
}

/** All values of a name in a list such as `t=1,v1=ab,v1=cd`; without a name all elements. */
export function fieldsIn(list: string, separator: string | RegExp, name: string): string[] {
  const prefix = name === '' ? '' : `${name}=`;
  return list
    .split(separator)
    .map((field) => field.trim())
    .filter((field) => field.startsWith(prefix))
    .map((field) => field.slice(prefix.length));
}
