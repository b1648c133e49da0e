import { boundOf, drawTraffic, parseScenario, simulate } from '@webhook-backpressure/planner/parts';
import type { LabRun } from './lab-runs.ts';

/** What happened to the events of one sender. Times are in seconds; null without a measurement. */
export interface LabFigures {
  readonly events: number;
  readonly lost: number;
  readonly attempts: number | null;
  readonly p50: number | null;
  readonly p99: number | null;
  /** How often it disabled the endpoint. */
  readonly off: number;
  /** Lost events whose handler ran after the sender had disconnected. */
  readonly inVain: number;
  /** Handlings after the first one of the same event. */
  readonly again: number;
}

/** By key of the sender. */
export type LabResult = Readonly<Record<string, LabFigures>>;

/** By name of the run; the entry at index `i` is of seed `i + 1`. */
export type LabReport = Readonly<Record<string, readonly LabResult[]>>;

/** Makes one run. */
export async function figuresOf({ receiver, scenario }: LabRun, seed: number): Promise<LabResult> {
  if (receiver === 'bound') {
    const parsed = parseScenario({ ...scenario, seed });
    const { events, lost } = boundOf(parsed, drawTraffic(parsed));
    const unknown = { attempts: null, p50: null, p99: null, off: 0, inVain: 0, again: 0 };
    return { all: { events, lost, ...unknown } };
  }
  const { results } = await simulate({ ...scenario, seed });
  return Object.fromEntries(
    Object.entries(results.perKey).map(([key, one]) => {
      const { events, lost, attemptsPerEvent, delayS, switchedOff, handledInVain, handledAgain } = one;
      const attempts = rounded(attemptsPerEvent);
      const delays = { p50: rounded(delayS.p50), p99: rounded(delayS.p99) };
      const rest = { off: switchedOff, inVain: handledInVain, again: handledAgain };
      return [key, { events, lost, attempts, ...delays, ...rest }];
    }),
  );
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
