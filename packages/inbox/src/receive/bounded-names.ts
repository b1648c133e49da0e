import { invalidResult } from '@webhook-backpressure/base';
import { randomUuid, subtle, toHex, utf8 } from '../encryption/web-crypto.ts';

const MAX_CHARACTERS = 256;
/** Operator calls read it as every delivery: with this id, purging one dead letter would purge all. */
const RESERVED_ID = 'all';

/** An id for a delivery that has none. */
export function generatedId(): string {
  return randomUuid();
}

/**
 * Checks what an option returned. Any other value than a string, a promise for instance, would be the same text for
 * every delivery, and all but the first would be duplicates.
 *
 * @throws BackpressureError `ERR_WBP_CALLBACK`
 */
export function returnedName(option: 'id' | 'keyGenerator', name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name === 'string') return name;
  throw invalidResult('ERR_WBP_CALLBACK', option, 'a string or undefined', name);
}

/**
 * The id or key itself, or its SHA-256 when it is long. If it were truncated, two names could become equal, and the
 * second delivery a duplicate of the first.
 */
export async function boundedName(name: string): Promise<string> {
  return name.length <= MAX_CHARACTERS ? name : hashed(name);
}

/** The same for an id, where one value is reserved. */
export async function boundedId(id: string): Promise<string> {
  return id === RESERVED_ID ? hashed(id) : boundedName(id);
}

async function hashed(name: string): Promise<string> {
  const isText = !LONE_SURROGATE.test(name);
  const digest = new Uint8Array(await subtle().digest('SHA-256', isText ? utf8(name) : codeUnits(name)));
  return `sha256${isText ? '' : '-utf16'}:${toHex(digest)}`;
}

/** UTF-8 encodes every lone surrogate as the same replacement: names that differ in them would become equal. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function codeUnits(name: string): Uint8Array {
  const bytes = new Uint8Array(2 * name.length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < name.length; at += 1) view.setUint16(2 * at, name.charCodeAt(at));
  return bytes;
}
