import { type BackpressureErrorCode, invalid } from '@webhook-backpressure/base';

/** Begins the names under which the store remembers disabled endpoints. An endpoint of such an id would be mistaken for one. */
export const DISABLED_PREFIX = 'wbp-disabled:';

const MAX_CHARACTERS = 256;

/** @throws BackpressureError with this code if the value cannot be the id of an endpoint. */
export function checkEndpointId(
  code: BackpressureErrorCode,
  field: string,
  id: unknown,
): asserts id is string {
  const isText = typeof id === 'string' && id.length >= 1 && id.length <= MAX_CHARACTERS;
  if (isText && !id.startsWith(DISABLED_PREFIX)) return;
  const rule = `a string of 1 to 256 characters that does not begin with "${DISABLED_PREFIX}"`;
  throw invalid(code, field, rule, id);
}
