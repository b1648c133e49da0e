import { requireSync, show } from '@webhook-backpressure/base';
import type { Warn } from '../delivery/warnings.ts';

/**
 * Checks the results of the option `keyGenerator`. `null` and `undefined` mean no key. For any other value that is not
 * a string the default key is used and a warning is given once: an error would fail deliveries that can be handled.
 *
 * @param warn - shows the warning `WBP_KEY`.
 * @returns a function that converts a result to a key, or to undefined for no key.
 * @throws BackpressureError `ERR_WBP_CALLBACK` from that function, for a promise.
 */
export function keyAsker(warn: Warn): (answer: unknown) => string | undefined {
  let hasWarned = false;
  return (answer) => {
    if (typeof answer === 'string') return answer;
    if (answer === undefined || answer === null) return undefined;
    requireSync('ERR_WBP_CALLBACK', 'keyGenerator', 'a string or undefined', answer);
    if (hasWarned) return undefined;
    hasWarned = true;
    warn(
      'WBP_KEY',
      `keyGenerator() must return a string or undefined, but returned ${show(answer)}. ` +
        'These deliveries use the default key. This warning is given once.',
    );
    return undefined;
  };
}
