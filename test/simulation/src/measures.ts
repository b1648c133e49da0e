import { runIdeal } from './ideal.ts';
import type { Second } from './series.ts';
import type { Simulation } from './simulate.ts';
import { placesOf } from './workers.ts';

/** What the report says about one run; null where there is nothing to measure. */
export interface Measures {
  readonly attemptsPerEvent: number | null;
  /**
   * One attempt for each delivery, and one refusal for each that a queue of the same capacity turns away which
   * refuses only when it is full and to which nobody returns.
   */
  readonly floor: number;
  readonly maxAttempts: number;
  readonly lost: number;
  readonly clearS: number | null;
  /** Clearing time ÷ ideal clearing time. */
  readonly clearRatio: number | null;
  readonly goodput: number | null;
  readonly gateToggles: number;
  readonly peakReturnsPerSecond: number;
  readonly p50DelayS: number | null;
  readonly p99DelayS: number | null;
  /** The mean Retry-After told within 3 s after the workers stand still, ÷ the mean in the second before. */
  readonly retryAfterRise: number | null;
}

/** What the reports call them. */
export const NAMES: Record<keyof Measures, string> = {
  attemptsPerEvent: 'attempts per event',
  floor: 'floor',
  maxAttempts: 'attempts of one event, at most',
  lost: 'lost',
  clearS: 'cleared after (s)',
  clearRatio: 'clearing time ÷ ideal',
  goodput: 'goodput',
  gateToggles: 'gate toggles',
  peakReturnsPerSecond: 'peak of returns (per s)',
  p50DelayS: 'p50 of delay (s)',
  p99DelayS: 'p99 of delay (s)',
  retryAfterRise: 'rise of Retry-After in 3 s of a stall',
};

const RISE_WITHIN_S = 3;

export function measuresOf({ scenario, traffic, seen, results }: Simulation): Measures {
  const { rejected } = runIdeal(scenario, traffic, placesOf(scenario));
  const { clearS, idealClearS } = results;
  return {
    attemptsPerEvent: results.attemptsPerEvent,
    floor: rounded(1 + rejected / traffic.count),
    maxAttempts: results.maxAttempts,
    lost: results.lost,
    clearS,
    clearRatio: clearS === null || idealClearS === null ? null : rounded(clearS / idealClearS),
    goodput: results.goodput,
    gateToggles: results.gateToggles,
    peakReturnsPerSecond: results.peakReturnsPerSecond,
    p50DelayS: results.delayS.p50,
    p99DelayS: results.delayS.p99,
    retryAfterRise: retryAfterRise(seen.series.seconds, scenario.service.standStill?.[0]?.fromS),
  };
}

/** The highest mean in a second after the workers stand still, so that it has reached this rise by its end. */
function retryAfterRise(seconds: readonly Second[], stillFromS: number | undefined): number | null {
  if (stillFromS === undefined) return null;
  const means = (from: number, to: number): number[] =>
    seconds
      .slice(from, to)
      .flatMap(({ retryAfterS, refusals }) => (refusals === 0 ? [] : [retryAfterS / refusals]));
  const [before] = means(stillFromS - 1, stillFromS);
  const after = means(stillFromS, stillFromS + RISE_WITHIN_S);
  return before === undefined || after.length === 0 ? null : rounded(Math.max(...after) / before);
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
