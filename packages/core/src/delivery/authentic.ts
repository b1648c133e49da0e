import { invalidResult } from '../errors.ts';

/**
 * Checks what the option `authentic` returned. A promise is truthy, and would make every request authentic.
 *
 * @throws BackpressureError `ERR_WBP_CALLBACK`
 */
export function checkAuthentic(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw invalidResult('ERR_WBP_CALLBACK', 'authentic', 'a boolean', answer);
}
