import { shared } from '@webhook-backpressure/base';
import type { Admission } from './admission.ts';

/** Not a field of each delivery: only few platforms have to learn of it. */
const callbacks = shared('revocations', () => new WeakMap<object, () => void>());

/** Calls back if the permit of an admission is revoked after `maxHandlingMs`. */
export function whenRevoked(place: Admission, callback: () => void): void {
  callbacks.set(place, callback);
}

/** Reports that the permit of an admission has been revoked. */
export function revoked(place: Admission): void {
  callbacks.get(place)?.();
}
