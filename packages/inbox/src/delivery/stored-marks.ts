import { isRecord } from '@webhook-backpressure/base';
import type { StoredDelivery } from './stored-delivery.ts';

/** The field of the stored params that holds the marks: a route param cannot have this name in any framework. */
const FIELD = '@inbox';

type Params = Readonly<Record<string, string>>;
/** What an inbox notes on a delivery for its workers. */
type Marks = Pick<StoredDelivery, 'handler' | 'notBeforeMs'>;

/**
 * The params of a stored request with the marks of its delivery. Stored there, they need no column, and a worker of an
 * older release, which does not know them, can still read the delivery.
 */
export function paramsWithMarks({ request: { params }, handler, notBeforeMs }: StoredDelivery): Params {
  if (handler === undefined && notBeforeMs === undefined) return params;
  return { ...params, [FIELD]: JSON.stringify({ handler, notBeforeMs } satisfies Marks) };
}

/** The reverse of {@link paramsWithMarks}. Ignores marks that it has not written. */
export function marksIn(stored: Params): { readonly params: Params; readonly marks: Marks } {
  if (!Object.hasOwn(stored, FIELD)) return { params: stored, marks: {} };
  const { [FIELD]: written = '', ...params } = stored;
  return { params, marks: parsed(written) };
}

function parsed(written: string): Marks {
  try {
    const marks: unknown = JSON.parse(written);
    if (!isRecord(marks)) return {};
    const { handler, notBeforeMs } = marks;
    return {
      ...(typeof handler === 'string' && { handler }),
      ...(typeof notBeforeMs === 'number' && { notBeforeMs }),
    };
  } catch {
    return {};
  }
}
