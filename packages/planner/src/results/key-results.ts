import type { Observations } from '../observations/observations.ts';
import { percentile } from '../base/statistics.ts';
import { rounded, seconds } from './rounding.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Traffic } from '../traffic/traffic.ts';

/** The results of the senders with one key. Times are in seconds; null without a measurement. */
export interface KeyResults {
  /** Distinct deliveries. */
  readonly events: number;
  /** Handled to the end. */
  readonly delivered: number;
  /** Never answered with success before the sender's timeout. */
  readonly lost: number;
  /** Of those, the ones whose handler ran to its end after the sender had disconnected. */
  readonly handledInVain: number;
  /** Handlings after the first one of the same event. */
  readonly handledAgain: number;
  /** Requests ÷ events. */
  readonly attemptsPerEvent: number | null;
  /** Refused attempts. */
  readonly refused: number;
  /** The p99 of the time from admission to start, of handled deliveries. */
  readonly p99WaitS: number | null;
  /** From the first attempt to the end of the handling, of delivered events. */
  readonly delayS: { readonly p50: number | null; readonly p99: number | null };
  /** How often a sender has disabled its endpoint. */
  readonly switchedOff: number;
  /** When it did so first. */
  readonly switchedOffS: number | null;
}

interface Gathered {
  events: number;
  lost: number;
  handledInVain: number;
  handledAgain: number;
  attempts: number;
  refused: number;
  readonly waitsMs: number[];
  readonly delaysMs: number[];
}

export function keyResults(
  { senders }: Scenario,
  traffic: Traffic,
  seen: Observations,
): Map<string, KeyResults> {
  const keys = new Map(senders.map(({ key }) => [key, nothing()]));
  const keyOfSender = senders.map(({ key }) => keys.get(key) as Gathered);
  for (let i = 0; i < traffic.count; i += 1) {
    const key = keyOfSender[traffic.sender[i] as number];
    if (key !== undefined) gather(key, i, traffic, seen);
  }
  return new Map(
    [...keys].map(([key, gathered]) => [key, { ...resultsOf(gathered), ...offs(key, senders, seen) }]),
  );
}

function nothing(): Gathered {
  const counts = { events: 0, lost: 0, handledInVain: 0, handledAgain: 0, attempts: 0, refused: 0 };
  return { ...counts, waitsMs: [], delaysMs: [] };
}

function gather(key: Gathered, i: number, { firstMs }: Traffic, seen: Observations): void {
  const handlings = seen.handlings[i] as number;
  const completedMs = seen.completedMs[i] as number;
  key.events += 1;
  key.attempts += seen.attempts[i] as number;
  key.refused += seen.refusals[i] as number;
  key.handledAgain += Math.max(0, handlings - 1);
  if (Number.isNaN(completedMs)) {
    key.lost += 1;
    if (handlings > 0) key.handledInVain += 1;
    return;
  }
  key.waitsMs.push(seen.waitedMs[i] as number);
  key.delaysMs.push(completedMs - (firstMs[i] as number));
}

function resultsOf({
  waitsMs,
  delaysMs,
  attempts,
  ...counts
}: Gathered): Omit<KeyResults, keyof ReturnType<typeof offs>> {
  const delays = Float64Array.from(delaysMs).sort();
  const { events, lost, handledInVain, handledAgain, refused } = counts;
  return {
    events,
    delivered: events - lost,
    ...{ lost, handledInVain, handledAgain },
    attemptsPerEvent: rounded(attempts / events),
    refused,
    p99WaitS: seconds(percentile(Float64Array.from(waitsMs).sort(), 0.99)),
    delayS: { p50: seconds(percentile(delays, 0.5)), p99: seconds(percentile(delays, 0.99)) },
  };
}

function offs(
  key: string,
  senders: Scenario['senders'],
  { endpoints }: Observations,
): Pick<KeyResults, 'switchedOff' | 'switchedOffS'> {
  const own = endpoints.filter((_, index) => senders[index]?.key === key);
  const firstMs = own.map(({ firstOffMs }) => firstOffMs).filter((ms) => !Number.isNaN(ms));
  return {
    switchedOff: own.reduce((sum, { switchedOff }) => sum + switchedOff, 0),
    switchedOffS: firstMs.length === 0 ? null : seconds(Math.min(...firstMs)),
  };
}
