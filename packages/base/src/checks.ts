import { invalid, invalidResult, type BackpressureErrorCode } from './errors.ts';
import { isThenable } from './shown-values.ts';

/** A value or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** The longest time that most options accept, in milliseconds. */
export const DAY_MS = 86_400_000;

export function checkInteger(
  code: BackpressureErrorCode,
  option: string,
  value: unknown,
  min: number,
  why = '',
): void {
  if (Number.isSafeInteger(value) && (value as number) >= min) return;
  throw invalid(code, option, `an integer of at least ${grouped(min)}${why}`, value);
}

export function checkNumber(
  code: BackpressureErrorCode,
  option: string,
  value: unknown,
  min: number,
  max: number,
  unit: string,
): void {
  if (typeof value === 'number' && value >= min && value <= max) return;
  throw invalid(code, option, `a number of ${unit} from ${grouped(min)} to ${grouped(max)}`, value);
}

export function checkOneOf(
  code: BackpressureErrorCode,
  option: string,
  value: unknown,
  allowed: readonly unknown[],
): void {
  if (allowed.includes(value)) return;
  throw invalid(code, option, alternatives(allowed), value);
}

export function checkBoolean(code: BackpressureErrorCode, option: string, value: unknown): void {
  if (typeof value !== 'boolean') throw invalid(code, option, 'a boolean', value);
}

export function checkFunction(code: BackpressureErrorCode, option: string, value: unknown): void {
  if (typeof value !== 'function') throw invalid(code, option, 'a function', value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Rejects a promise as the result of a callback that must be synchronous: a request that awaited it would not be
 * counted, so any number of requests could wait.
 *
 * @param rule - what the callback must return.
 */
export function requireSync<T>(code: BackpressureErrorCode, callback: string, rule: string, result: T): T {
  if (isThenable(result)) throw invalidResult(code, callback, rule, result);
  return result;
}

/** "refuse" or "drop-oldest" */
function alternatives(allowed: readonly unknown[]): string {
  const values = allowed.map((one) => JSON.stringify(one));
  return `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`;
}

function grouped(limit: number): string {
  return limit.toLocaleString('en', { maximumFractionDigits: 3 });
}

/** @throws BackpressureError with this code for anything but an integer from 1 to `max`. */
export function checkUpTo(code: BackpressureErrorCode, option: string, value: unknown, max: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max) return;
  throw invalid(code, option, `an integer from 1 to ${max.toLocaleString('en')}`, value);
}
