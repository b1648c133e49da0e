import { BackpressureError, type BackpressureErrorCode } from '@webhook-backpressure/base';
import type { InboxStore, OpenedStore } from '@webhook-backpressure/inbox';
import type { DriverName } from '../drivers/choose.ts';
import type { Settings } from '../options.ts';

/** The `workerData` of the thread. */
export interface ThreadData {
  readonly settings: Settings;
  /** Overrides the choice of the driver, for tests. */
  readonly driver: DriverName | undefined;
}

/** The calls of a store, and `takeOver`, which replaces `open` after an earlier thread has ended. */
export type Call = keyof InboxStore | 'takeOver';

/** A call. Each request gets one reply, in the same order. */
export interface Request {
  readonly number: number;
  readonly call: Call;
  readonly args: readonly unknown[];
  /** Set to 1 and notified when the reply has been sent, for a caller that blocks the event loop. */
  readonly answered?: Int32Array | undefined;
}

/** A failed put returns its bodies, since the caller may put the deliveries again. */
export type Reply =
  | { readonly number: number; readonly result: unknown; readonly error?: undefined }
  | { readonly number: number; readonly error: ThrownError; readonly bodies: readonly Uint8Array[] };

/** The result of `open` and `takeOver`. */
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
  readonly fields: Readonly<Record<string, string | number>>;
  readonly cause: ThrownError | undefined;
}

const MAX_CAUSES = 5;

export function packError(thrown: unknown, depth = 0): ThrownError {
  if (!(thrown instanceof Error)) {
    return {
      name: 'Error',
      message: String(thrown),
      stack: undefined,
      known: undefined,
      fields: {},
      cause: undefined,
    };
  }
  const { name, message, stack, cause } = thrown;
  const own = Object.entries(thrown).filter((entry): entry is [string, string | number] => {
    const [field, value] = entry as [string, unknown];
    return (
      !['name', 'message', 'stack', 'cause'].includes(field) && ['string', 'number'].includes(typeof value)
    );
  });
  return {
    name,
    message,
    stack,
    known: thrown instanceof BackpressureError ? thrown.code : undefined,
    fields: Object.fromEntries(own),
    cause: cause === undefined || depth >= MAX_CAUSES ? undefined : packError(cause, depth + 1),
  };
}

export function unpackError({ name, message, stack, known, fields, cause: packed }: ThrownError): Error {
  const cause = packed === undefined ? undefined : unpackError(packed);
  const options = cause === undefined ? {} : { cause };
  const error = known === undefined ? new Error(message, options) : new BackpressureError(known, '', options);
  // The message of a BackpressureError already contains the code. The stack of the thread says more than the stack here.
  const hidden = { configurable: true, enumerable: false, writable: true };
  Object.defineProperty(error, 'message', { ...hidden, value: message });
  if (stack !== undefined) Object.defineProperty(error, 'stack', { ...hidden, value: stack });
  if (known === undefined) Object.defineProperty(error, 'name', { ...hidden, value: name });
  return Object.assign(error, fields);
}
