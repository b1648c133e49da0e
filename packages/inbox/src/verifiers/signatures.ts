import { checkNumber, DAY_MS, invalid } from '@webhook-backpressure/base';
import { type CryptoKey, joined, subtle, utf8 } from '../encryption/web-crypto.ts';
import type { RawDelivery } from '../delivery/inbox-delivery.ts';

/** Rejects a delivery as not genuine. This is the `error` of the event `unverified`. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
}

/** When a signature with a timestamp is too old. */
export interface Freshness {
  readonly toleranceMs: number;
  readonly wallClock: () => number;
}

const TOLERANCE_MS = 300_000;

/** @throws BackpressureError `ERR_WBP_VERIFIER` */
export function freshness(given: {
  toleranceMs?: number | undefined;
  wallClock?: (() => number) | undefined;
}): Freshness {
  const { toleranceMs = TOLERANCE_MS, wallClock = Date.now } = given;
  checkNumber('ERR_WBP_VERIFIER', 'toleranceMs', toleranceMs, 1, DAY_MS, 'milliseconds');
  if (typeof wallClock !== 'function')
    throw invalid('ERR_WBP_VERIFIER', 'wallClock', 'a function', wallClock);
  return { toleranceMs, wallClock };
}

/** The value of a required header. */
export function required({ headers }: RawDelivery, name: string): string {
  const value = headers[name];
  if (value === undefined || value === '') throw new VerificationError(`The header ${name} is missing.`);
  return value;
}

/** Throws unless `time` is an integer within the tolerance of the current time, before or after. */
export function checkFresh(time: string, unitMs: number, { toleranceMs, wallClock }: Freshness): void {
  if (!/^\d{1,15}$/.test(time))
    throw new VerificationError('The timestamp of the signature is not a number.');
  const awayMs = Math.abs(wallClock() - Number(time) * unitMs);
  if (awayMs <= toleranceMs) return;
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
    const message = joined(parts.map((part) => (typeof part === 'string' ? utf8(part) : part)));
    for (const key of keys) {
      const expected = new Uint8Array(await subtle().sign('HMAC', key, message));
      for (const signature of signatures) isSigned = isEqual(expected, signature) || isSigned;
    }
  }
  if (isSigned) return true;
  throw new VerificationError('The signature does not match.');
}

/** Compares in constant time. */
export function isEqual(expected: Uint8Array, given: Uint8Array | undefined): boolean {
  if (given?.byteLength !== expected.byteLength) return false;
  let difference = 0;
  for (const [at, byte] of expected.entries()) difference |= byte ^ (given[at] as number);
  return difference === 0;
}

/** All values of a name in a list such as `t=1,v1=ab,v1=cd`. */
export function fieldsIn(list: string, separator: string, name: string): string[] {
  const prefix = `${name}=`;
  return list
    .split(separator)
    .map((field) => field.trim())
    .filter((field) => field.startsWith(prefix))
    .map((field) => field.slice(prefix.length));
}
