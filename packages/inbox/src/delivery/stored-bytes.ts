import type { StoredDelivery } from './stored-delivery.ts';

/** Overhead of a header beside its name and value, and of a delivery beside its fields. */
const BYTES_PER_HEADER = 8;
const BYTES_PER_DELIVERY = 256;

/**
 * What a delivery counts against a limit in bytes: its body, its strings, its context and a fixed overhead. For an
 * encrypted delivery the encrypted bytes count.
 */
export function storedBytes({
  key,
  id,
  request,
  context,
  headers,
  rawBody,
}: Pick<StoredDelivery, 'key' | 'id' | 'request' | 'context' | 'headers'> & {
  readonly rawBody: { readonly byteLength: number };
}): number {
  let bytes = BYTES_PER_DELIVERY + rawBody.byteLength + key.length + id.length;
  bytes += request.method.length + request.url.length;
  if (context !== null) bytes += JSON.stringify(context).length;
  for (const fields of [headers, request.params]) {
    for (const [name, value] of Object.entries(fields))
      bytes += BYTES_PER_HEADER + name.length + value.length;
  }
  return bytes;
}
