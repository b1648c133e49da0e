import { types } from 'node:util';

/** From this size on memory is handed over: below it, a copy costs less than changing hands. */
const HANDED_OVER_FROM = 8192;

/** What has bodies in it, as the calls of a store take and return it. */
interface WithBody {
  readonly rawBody: Uint8Array;
}

/**
 * Whether nothing else is in the memory of these bytes, and it can change hands. A small Buffer is a part of a pool, and
 * that of a native library may belong to it.
 */
function isWhole(bytes: Uint8Array): boolean {
  const { buffer, byteLength } = bytes;
  return !Buffer.isBuffer(bytes) && types.isArrayBuffer(buffer) && byteLength === buffer.byteLength;
}

/**
 * The same bytes, so that they can be sent: a structured clone copies the whole memory that they are a part of.
 *
 * @param mayTake - whether they may be handed over themselves, instead of a copy.
 */
export function sendable(bytes: Uint8Array, mayTake: boolean, transfer: ArrayBuffer[]): Uint8Array {
  // Whatever the types say, it may be anything; then the store says so.
  if (!types.isUint8Array(bytes)) return bytes;
  const isLarge = bytes.byteLength >= HANDED_OVER_FROM;
  const sent = isWhole(bytes) && (mayTake || !isLarge) ? bytes : new Uint8Array(bytes);
  if (isLarge) transfer.push(sent.buffer as ArrayBuffer);
  return sent;
}

/** A result with its bodies ready to be handed over: they are nobody else's. */
export function sendableResult(result: unknown, transfer: ArrayBuffer[]): unknown {
  if (Array.isArray(result)) return result.map((one: unknown) => sendableResult(one, transfer));
  if (!hasBody(result)) return result;
  return { ...result, rawBody: sendable(result.rawBody, true, transfer) };
}

function hasBody(value: unknown): value is WithBody {
  return (
    typeof value === 'object' && value !== null && 'rawBody' in value && types.isUint8Array(value.rawBody)
  );
}
