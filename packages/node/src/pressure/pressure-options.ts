import { inspect } from 'node:util';
import { BackpressureError, checkNames } from '@webhook-backpressure/base';

/** Options of {@link processPressure}. `undefined` means absent. */
export interface ProcessPressureOptions {
  /**
   * The limit of the 99th percentile of the event-loop delay in a window, in milliseconds. From 1 to 60,000, default 200.
   * In a window of less than a second, the percentile is the longest delay.
   */
  maxEventLoopDelayMs?: number | undefined;
  /**
   * The limit of the fraction of a window in which the event loop is not idle. Above 0 and at most 1, default 0.98. 1
   * switches this signal off.
   */
  maxEventLoopUtilization?: number | undefined;
  /**
   * The limit of the fraction of V8's heap limit in use after a full collection. Above 0 and at most 1, default 0.85. 1
   * switches this signal off.
   */
  maxHeapFraction?: number | undefined;
  /**
   * The length of a window, in milliseconds. From 100 to 60,000, default 500. Two consecutive windows decide, so the
   * result changes after two to three windows.
   */
  windowMs?: number | undefined;
}

/** The options, complete and valid. */
export type PressureSettings = Required<{ [K in keyof ProcessPressureOptions]: number }>;

interface Rule {
  readonly fallback: number;
  readonly allows: (value: number) => boolean;
  readonly rule: string;
}

const FRACTION = {
  allows: (value: number): boolean => value > 0 && value <= 1,
  rule: 'a number above 0 and at most 1',
};

const RULES: Record<keyof PressureSettings, Rule> = {
  maxEventLoopDelayMs: { fallback: 200, ...milliseconds(1) },
  maxEventLoopUtilization: { fallback: 0.98, ...FRACTION },
  maxHeapFraction: { fallback: 0.85, ...FRACTION },
  windowMs: { fallback: 500, ...milliseconds(100) },
};

/**
 * @throws BackpressureError with the code of the first option that is wrong.
 */
export function resolvePressureOptions(options: ProcessPressureOptions): PressureSettings {
  checkNames(options, 'options', Object.keys(RULES));
  return {
    maxEventLoopDelayMs: settle('maxEventLoopDelayMs', options),
    maxEventLoopUtilization: settle('maxEventLoopUtilization', options),
    maxHeapFraction: settle('maxHeapFraction', options),
    windowMs: settle('windowMs', options),
  };
}

function settle(name: keyof PressureSettings, options: ProcessPressureOptions): number {
  const { fallback, allows, rule } = RULES[name];
  const value: unknown = options[name];
  if (value === undefined) return fallback;
  if (typeof value === 'number' && allows(value)) return value;
  throw new BackpressureError('ERR_WBP_PRESSURE', `${name} must be ${rule}, but was ${show(value)}.`);
}

// The limit is spelled out: `toLocaleString` costs every import of an adapter 12 ms.
function milliseconds(min: number): Omit<Rule, 'fallback'> {
  return {
    allows: (value) => value >= min && value <= 60_000,
    rule: `a number of milliseconds from ${String(min)} to 60,000`,
  };
}

function show(value: unknown): string {
  return inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 80, maxArrayLength: 3 });
}
