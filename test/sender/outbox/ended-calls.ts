import { BackpressureError } from '@webhook-backpressure/base';
import type { SenderBed } from '../dispatch/bed.ts';

/** The calls that have ended, in order. */
export function noted(bed: SenderBed, ids: readonly string[], ended: string[]): Promise<unknown> {
  const calls = ids.map((id) =>
    bed.send(id).then(
      () => ended.push(id),
      (error: unknown) =>
        ended.push(`${id}: ${error instanceof BackpressureError ? error.code : String(error)}`),
    ),
  );
  return Promise.all(calls);
}
