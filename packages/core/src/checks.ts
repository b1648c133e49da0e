import { BackpressureError, invalid, type BackpressureErrorCode } from './errors.ts';

/** The longest time that an option may name, in milliseconds. */
export const DAY_MS = 86_400_000;

export function checkInteger(
  code: BackpressureErrorCode,
  option: string,
  value: unknown,
  min: number,
  why = '',
): void {
  if (Number.isSafeInteger(value) && (value as number) >= min) return;
  throw invalid(code, option, `an integer, at least ${String(min)}${why}`, value);
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
  throw invalid(code, option, `a number of ${unit} from ${String(min)} to ${String(max)}`, value);
}

export function checkOneOf(
  code: BackpressureErrorCode,
  option: string,
  value: unknown,
  allowed: readonly unknown[],
): void {
  if (allowed.includes(value)) return;
  throw invalid(code, option, `one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}`, value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Refuses a promise where a value has to be there at once: whoever waits for it has not been counted yet. */
export function atOnce<T>(code: BackpressureErrorCode, name: string, value: T): T {
  if (!isThenable(value)) return value;
  // Its rejection would end the process; the error below says what is wrong.
  Promise.resolve(value).catch(() => undefined);
  throw new BackpressureError(code, `${name} must return its value at once, but returned a promise.`);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
