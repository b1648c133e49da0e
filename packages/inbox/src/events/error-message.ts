import { show } from '@webhook-backpressure/base';

/** Some libraries put the whole response of a server into a message, and the store keeps it. */
const MAX_CHARACTERS = 4096;

/** A bounded message of a thrown value, which may be anything. */
export function errorMessageOf(error: unknown): string {
  const message = fullMessageOf(error);
  return message.length <= MAX_CHARACTERS ? message : `${message.slice(0, MAX_CHARACTERS)}…`;
}

function fullMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : show(error);
  // Libraries write other types there too, which a store could not keep.
  const message: unknown = error.message;
  if (message === '' || message === undefined) return error.name;
  return typeof message === 'string' ? message : show(message);
}
