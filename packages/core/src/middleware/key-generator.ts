import { atOnce } from '../checks.ts';
import { show } from '../errors.ts';
import type { Warn } from '../delivery/warnings.ts';

/**
 * Reads what the option `keyGenerator` returned. `null` and `undefined` say that there is no key. Any other value that
 * is not a string is a mistake in the user's code: failing every request for it would refuse deliveries that can be
 * handled, so they count against the default key, and the user is warned once.
 *
 * @param warn - shows the warning `WBP_KEY`.
 * @returns the key, or undefined where there is none.
 */
export function keyAsker(warn: Warn): (answer: unknown) => string | undefined {
  let hasWarned = false;
  return (answer) => {
    if (typeof answer === 'string') return answer;
    if (answer === undefined || answer === null) return undefined;
    atOnce('ERR_WBP_CALLBACK', 'keyGenerator', answer);
    if (hasWarned) return undefined;
    hasWarned = true;
    warn(
      'WBP_KEY',
      `keyGenerator must return a string, or undefined for no key, but returned ${show(answer)}. ` +
        'Such deliveries count against the default key. This warning is given once.',
    );
    return undefined;
  };
}
