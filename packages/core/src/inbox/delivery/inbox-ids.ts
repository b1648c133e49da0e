import { invalidResult } from '../../errors.ts';
import { randomUuid, subtle, toHex, utf8 } from '../../base/web-crypto.ts';

const MAX_CHARACTERS = 256;
/** The shelf takes it for every delivery: a sender that could choose it would have all purged in place of its own. */
const RESERVED_ID = 'all';

/** An id for a delivery whose sender gave it none. */
export function generatedId(): string {
  return randomUuid();
}

/**
 * What an option says about a delivery. Anything but a string, a promise above all, would read the same for every
 * delivery, and all but the first be taken for duplicates.
 *
 * @throws BackpressureError `ERR_WBP_CALLBACK`
 */
export function toldName(option: 'id' | 'keyGenerator', name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name === 'string') return name;
  throw invalidResult('ERR_WBP_CALLBACK', option, 'a string or undefined', name);
}

/**
 * The id or the key itself, or its SHA-256 when it is long. Cut short, two of them could become one, and the second
 * delivery be taken for a duplicate of the first.
 */
export async function boundedName(name: string): Promise<string> {
  return name.length <= MAX_CHARACTERS ? name : hashed(name);
}

/** The same for an id, of which one is not to be had. */
export async function boundedId(id: string): Promise<string> {
  return id === RESERVED_ID ? hashed(id) : boundedName(id);
}

async function hashed(name: string): Promise<string> {
  const isText = !LONE_SURROGATE.test(name);
  const digest = new Uint8Array(await subtle().digest('SHA-256', isText ? utf8(name) : codeUnits(name)));
  return `sha256${isText ? '' : '-utf16'}:${toHex(digest)}`;
}

/** UTF-8 has one and the same replacement for all halves of pairs: names that differ in them would become one. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function codeUnits(name: string): Uint8Array {
  const bytes = new Uint8Array(2 * name.length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < name.length; at += 1) view.setUint16(2 * at, name.charCodeAt(at));
  return bytes;
}
