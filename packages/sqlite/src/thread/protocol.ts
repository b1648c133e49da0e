import {
  BackpressureError,
  type BackpressureErrorCode,
  type InboxStore,
  type OpenedStore,
} from '@webhook-backpressure/core';
import type { DriverName } from '../drivers/choose.ts';
import type { Settings } from '../options.ts';

/** What the thread is started with. */
export interface ThreadData {
  readonly settings: Settings;
  /** Which SQLite it uses, whatever it would choose. */
  readonly driver: DriverName | undefined;
}

/** What the thread is asked for: the calls of a store, and `takeOver` in place of `open` after a thread that has ended. */
export type Call = keyof InboxStore | 'takeOver';

/** One call. Every request gets one reply, in the same order. */
export interface Request {
  readonly number: number;
  readonly call: Call;
  readonly args: readonly unknown[];
  /** Set to 1, and woken, when the reply has been sent: for whoever waits for it without the event loop. */
  readonly answered?: Int32Array | undefined;
}

/** What came of it. The bodies of a put that has failed come back: it may be put again in parts. */
export type Reply =
  | { readonly number: number; readonly result: unknown; readonly error?: undefined }
  | { readonly number: number; readonly error: ThrownError; readonly bodies: readonly Uint8Array[] };

/** What `open` and `takeOver` answer. */
export interface Entered {
  readonly opened: OpenedStore;
  /** Under which number the thread has the file open. */
  readonly owner: number | undefined;
}

/** An error as it crosses: a structured clone would keep neither its class nor its codes. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Of a {@link BackpressureError}. */
  readonly known: BackpressureErrorCode | undefined;
  /** Own fields that say more, such as the codes of SQLite. */
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
  // The message of ours has the code in it already. The stack is that of the thread: it says more than that of a reply.
  const hidden = { configurable: true, enumerable: false, writable: true };
  Object.defineProperty(error, 'message', { ...hidden, value: message });
  if (stack !== undefined) Object.defineProperty(error, 'stack', { ...hidden, value: stack });
  if (known === undefined) Object.defineProperty(error, 'name', { ...hidden, value: name });
  return Object.assign(error, fields);
}
