import { type Second, type Simulation, placesOf, runIdeal } from '@webhook-backpressure/planner/parts';

/** The measures of one run in the report; null without a measurement. */
export interface Measures {
  readonly attemptsPerEvent: number | null;
  /**
   * The minimum of attempts per event: one attempt for each delivery, plus one for each delivery that a plain queue of
   * the same capacity rejects when senders do not retry.
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
  /** The mean Retry-After within the first 3 s of a stall ÷ the mean in the second before. */
  readonly retryAfterRise: number | null;
}

/** The names of the measures in the reports. */
export const NAMES: Record<keyof Measures, string> = {
  attemptsPerEvent: 'attempts per event',
  floor: 'minimum',
  maxAttempts: 'most attempts for one event',
  lost: 'lost',
  clearS: 'cleared after (s)',
  clearRatio: 'clearing time ÷ ideal',
  goodput: 'goodput',
  gateToggles: 'gate toggles',
  peakReturnsPerSecond: 'peak of retries (per s)',
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

/** The rise to the highest mean of a second within 3 s of a stall. */
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
