import { BackpressureError, errorMessageOf } from '@webhook-backpressure/base';

/** The SQLSTATE of an error of the server, or undefined for any other error. */
function stateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether the same call may succeed: transactions have waited for each other, and this one was ended. */
export function isRetryable(error: unknown): boolean {
  return ['40001', '40P01'].includes(stateOf(error) ?? '');
}

/** The server was a primary, and the next connection may be to the new one. */
const READ_ONLY = '25006';

const unsent = new WeakSet<BackpressureError>();

/** The error of a call for which there was no connection. */
export function notSent(error: BackpressureError): BackpressureError {
  unsent.add(error);
  return error;
}

/** Whether a call that failed may have been committed: its answer is missing. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof BackpressureError && !unsent.has(error) && !isUsableAfter(error.cause);
}

/** Whether the connection works after the error: the server has answered, and does not end the session. */
export function isUsableAfter(error: unknown): boolean {
  const state = stateOf(error);
  return state !== undefined && !state.startsWith('57P') && !state.startsWith('08') && state !== READ_ONLY;
}

/** The errors of a value: of its class, or that it makes the row of an index too large. */
const VALUE = /^(22|23)|^54000$/;
/** A table, column or function does not exist or is another one, or the right to use it is missing. */
const SETUP = /^(42|3F)/;

/** Whether a value could not be stored: a repeated call fails in the same way. */
export function isOfValue(error: unknown): boolean {
  return error instanceof BackpressureError && error.code === 'ERR_WBP_STORE_VALUE';
}

/** Whether the schema, or the right to use it, is missing. */
export function isOfSetup(error: unknown): boolean {
  return SETUP.test(stateOf(error) ?? '');
}

/** An error with a code for any that the server, the driver or the network has reported. */
export function coded(error: unknown, schema: string): BackpressureError {
  if (error instanceof BackpressureError) return error;
  const reason = errorMessageOf(error);
  const state = stateOf(error) ?? '';
  if (VALUE.test(state))
    return new BackpressureError('ERR_WBP_STORE_VALUE', `PostgreSQL cannot store a value: ${reason}.`, {
      cause: error,
    });
  if (SETUP.test(state))
    return new BackpressureError(
      'ERR_WBP_POSTGRES_SETUP',
      `The schema ${schema} cannot be used or created: ${reason}.`,
      { cause: error },
    );
  return new BackpressureError(
    'ERR_WBP_POSTGRES_UNAVAILABLE',
    `PostgreSQL did not run a statement on the schema ${schema}: ${reason}.`,
    { cause: error },
  );
}
