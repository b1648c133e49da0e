import { types } from 'node:util';

/** Memory of at least this size is transferred. Below it, a copy costs less than a transfer. */
const TRANSFERRED_FROM = 8192;

interface WithBody {
  readonly rawBody: Uint8Array;
}

/**
 * Whether these bytes have their own memory, which can be transferred. A small Buffer is part of a pool, and the memory of
 * a native library may belong to it.
 */
function hasOwnMemory(bytes: Uint8Array): boolean {
  const { buffer, byteLength } = bytes;
  return !Buffer.isBuffer(bytes) && types.isArrayBuffer(buffer) && byteLength === buffer.byteLength;
}

/**
 * The bytes to send. A structured clone would copy the whole memory that they are part of.
 *
 * @param mayTake - whether they may be transferred themselves instead of a copy.
 */
export function sendable(bytes: Uint8Array, mayTake: boolean, transfer: ArrayBuffer[]): Uint8Array {
  // Callers without types may pass anything. The store reports it.
  if (!types.isUint8Array(bytes)) return bytes;
  const isLarge = bytes.byteLength >= TRANSFERRED_FROM;
  const sent = hasOwnMemory(bytes) && (mayTake || !isLarge) ? bytes : new Uint8Array(bytes);
  if (isLarge) transfer.push(sent.buffer as ArrayBuffer);
  return sent;
}

/** A result with its bodies prepared for transfer. The thread keeps no other reference to them. */
export function sendableResult(result: unknown, transfer: ArrayBuffer[]): unknown {
  if (Array.isArray(result)) return result.map((one: unknown) => sendableResult(one, transfer));
  if (hasClaimed(result)) return { ...result, claimed: sendableResult(result.claimed, transfer) };
  if (!hasBody(result)) return result;
  return { ...result, rawBody: sendable(result.rawBody, true, transfer) };
}

function hasBody(value: unknown): value is WithBody {
  return (
    typeof value === 'object' && value !== null && 'rawBody' in value && types.isUint8Array(value.rawBody)
  );
}

/** Whether these are the claimed deliveries of one key. */
function hasClaimed(value: unknown): value is { readonly claimed: readonly unknown[] } {
  return typeof value === 'object' && value !== null && 'claimed' in value && Array.isArray(value.claimed);
}
