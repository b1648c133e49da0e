import { types } from 'node:util';
import { BackpressureError, type BackpressureErrorCode } from '@webhook-backpressure/base';
import type { InboxStore, OpenedStore, Put } from '@webhook-backpressure/inbox';
import type { DriverName, Settings } from '../options.ts';

/** The `workerData` of the thread. */
export interface ThreadData {
  readonly settings: Settings;
  /** Overrides the choice of the driver, for tests. */
  readonly driver: DriverName | undefined;
}

/** A call. Each request gets one reply, in the same order. */
export interface Request {
  readonly number: number;
  readonly call: keyof InboxStore;
  readonly args: readonly unknown[];
  /** Set to 1 and notified when the reply has been sent, for a caller that blocks the event loop. */
  readonly answered?: Int32Array | undefined;
}

export type Reply =
  | { readonly number: number; readonly result: unknown; readonly error?: undefined }
  | { readonly number: number; readonly error: ThrownError };

/** The result of `open`. */
export interface Entered {
  readonly opened: OpenedStore;
  /** The number of the thread's owner in the file. */
  readonly owner: number | undefined;
}

/** A serialized error. A structured clone would lose its class and its codes. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** The code of a {@link BackpressureError}. */
  readonly known: BackpressureErrorCode | undefined;
  /** Other own fields, such as the codes of SQLite. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause: ThrownError | undefined;
}

export function packError(thrown: unknown): ThrownError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { name, message, stack, cause } = error;
  const fields = Object.entries(error).filter(
    ([field, value]) => field !== 'cause' && ['string', 'number'].includes(typeof value),
  );
  return {
    name,
    message,
    stack,
    known: error instanceof BackpressureError ? error.code : undefined,
    fields: Object.fromEntries(fields),
    cause: cause === undefined ? undefined : packError(cause),
  };
}

export function unpackError({ name, message, stack, known, fields, cause: packed }: ThrownError): Error {
  const options = packed === undefined ? {} : { cause: unpackError(packed) };
  const error = known === undefined ? new Error(message, options) : new BackpressureError(known, '', options);
  // The message of a BackpressureError already contains the code. The stack of the thread says more than the stack here.
  const hidden = { configurable: true, enumerable: false, writable: true };
  Object.defineProperty(error, 'message', { ...hidden, value: message });
  if (stack !== undefined) Object.defineProperty(error, 'stack', { ...hidden, value: stack });
  if (known === undefined) Object.defineProperty(error, 'name', { ...hidden, value: name });
  return Object.assign(error, fields);
}

/** Memory of at least this size is transferred. Below it, a copy costs less than a transfer. */
const TRANSFERRED_FROM = 8192;

/** A batch with copies of its bodies, since a structured clone would copy the whole memory that they are part of. */
export function sendableBatch(batch: readonly Put[], transfer: ArrayBuffer[]): readonly Put[] {
  return batch.map(({ delivery, isOverflow }) => {
    // Callers without types may pass anything. The store reports it.
    if (!types.isUint8Array(delivery.rawBody)) return { delivery, isOverflow };
    return {
      delivery: { ...delivery, rawBody: sent(new Uint8Array(delivery.rawBody), transfer) },
      isOverflow,
    };
  });
}

/** A result with its bodies prepared for transfer. The thread keeps no other reference to them. */
export function sendableResult(result: unknown, transfer: ArrayBuffer[]): unknown {
  if (Array.isArray(result)) return result.map((one: unknown) => sendableResult(one, transfer));
  if (typeof result !== 'object' || result === null) return result;
  if ('claimed' in result) return { ...result, claimed: sendableResult(result.claimed, transfer) };
  if (!('rawBody' in result && types.isUint8Array(result.rawBody))) return result;
  const { rawBody } = result;
  const { buffer, byteLength } = rawBody;
  // A small Buffer is part of a pool, and the memory of a native library may belong to it.
  const isOwn = !Buffer.isBuffer(rawBody) && types.isArrayBuffer(buffer) && byteLength === buffer.byteLength;
  return { ...result, rawBody: sent(isOwn ? rawBody : new Uint8Array(rawBody), transfer) };
}

function sent(bytes: Uint8Array, transfer: ArrayBuffer[]): Uint8Array {
  if (bytes.byteLength >= TRANSFERRED_FROM) transfer.push(bytes.buffer as ArrayBuffer);
  return bytes;
}
