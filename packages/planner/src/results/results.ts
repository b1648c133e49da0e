import { percentile, rounded, seconds, jain } from '../base/numbers.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { FleetResults, InboxObservations, Observations, SwitchOffs } from '../senders/observations.ts';
import type { Ideal } from '../traffic/downstream.ts';
import { type Traffic, workersOf } from '../traffic/traffic.ts';

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

/** The results of a run. Times are in seconds; null without a measurement. */
export interface Results {
  /** Distinct deliveries. */
  readonly events: number;
  /** Handled to the end. */
  readonly delivered: number;
  /** Given up by their sender. */
  readonly lost: number;
  /** Requests ÷ events. */
  readonly attemptsPerEvent: number | null;
  /** The most requests for one event. */
  readonly maxAttempts: number;
  /** The last completion. */
  readonly clearS: number | null;
  /** The last completion with an unlimited queue and the same service times. */
  readonly idealClearS: number | null;
  /** Busy worker time ÷ all worker time, while that unlimited queue is not empty. */
  readonly goodput: number | null;
  /** Changes between accepting and shedding. */
  readonly gateToggles: number;
  /** The most second and later attempts in one whole second. */
  readonly peakReturnsPerSecond: number;
  /** The most queued deliveries. */
  readonly maxDepth: number;
  /** From the first attempt to the completion. */
  readonly delayS: Delays;
  /** By key of the senders. */
  readonly perKey: Readonly<Record<string, KeyResults>>;
  /** Jain's index of fairness over delivered ÷ events of the keys. */
  readonly jain: number;
  /** Only for several receivers. */
  readonly fleet?: FleetResults;
  /** Only for an inbox. */
  readonly inbox?: InboxResults;
}

/** Figures that only an inbox has. There `maxDepth` counts stored and unfinished deliveries, and waits begin when an attempt is sent. */
export interface InboxResults {
  /** Events whose sender got an acknowledgement. */
  readonly acknowledged: number;
  /** From the first arrival to the acknowledgement. */
  readonly acknowledgedS: Delays;
  /** Attempts that the inbox recognized as duplicates. */
  readonly duplicates: number;
  /** Events that were handled more than once. */
  readonly handledTwice: number;
}

/** Percentiles by nearest rank, in seconds; null without a measurement. */
export interface Delays {
  /** The median. */
  readonly p50: number | null;
  /** The 99th percentile. */
  readonly p99: number | null;
  /** The highest. */
  readonly max: number | null;
}

export function resultsOf(scenario: Scenario, traffic: Traffic, seen: Observations, ideal: Ideal): Results {
  const { count, firstMs } = traffic;
  const delaysMs = new Float64Array(count);
  let delivered = 0;
  let attempts = 0;
  let maxAttempts = 0;
  let clearMs = NaN;
  for (let i = 0; i < count; i += 1) {
    const made = seen.attempts[i] as number;
    attempts += made;
    maxAttempts = Math.max(maxAttempts, made);
    const completedMs = seen.completedMs[i] as number;
    if (Number.isNaN(completedMs)) continue;
    delaysMs[delivered++] = completedMs - (firstMs[i] as number);
    if (!(completedMs <= clearMs)) clearMs = completedMs;
  }
  const delays = delaysMs.subarray(0, delivered).sort();
  const perKey = keyResults(scenario, traffic, seen);
  const withEvents = [...perKey.values()].filter(({ events }) => events > 0);
  const served = withEvents.map((key) => key.delivered / key.events);
  return {
    events: count,
    delivered,
    lost: seen.lost,
    attemptsPerEvent: rounded(attempts / count),
    maxAttempts,
    clearS: seconds(clearMs),
    idealClearS: seconds(ideal.clearMs),
    goodput: rounded(goodput(workersOf(scenario), seen, ideal)),
    gateToggles: seen.gateToggles,
    peakReturnsPerSecond: seen.series.seconds.reduce((peak, { retries }) => Math.max(peak, retries), 0),
    maxDepth: seen.maxDepth,
    delayS: delaysOf(delays),
    perKey: Object.fromEntries(perKey),
    jain: rounded(jain(served)) ?? 1,
    ...(seen.fleet === undefined ? {} : { fleet: seen.fleet }),
    ...(seen.inbox === undefined ? {} : { inbox: inboxResults(seen.inbox, traffic, seen.handlings) }),
  };
}

function delaysOf(sortedMs: Float64Array): Delays {
  return {
    p50: seconds(percentile(sortedMs, 0.5)),
    p99: seconds(percentile(sortedMs, 0.99)),
    max: seconds(percentile(sortedMs, 1)),
  };
}

function inboxResults(
  { acknowledgedMs, duplicates }: InboxObservations,
  { firstMs }: Traffic,
  handlings: Uint32Array,
): InboxResults {
  const delaysMs = acknowledgedMs
    .map((atMs, i) => atMs - (firstMs[i] as number))
    .filter((ms) => !Number.isNaN(ms));
  return {
    acknowledged: delaysMs.length,
    acknowledgedS: delaysOf(delaysMs.sort()),
    duplicates,
    handledTwice: handlings.reduce((events, times) => (times > 1 ? events + 1 : events), 0),
  };
}

/** Busy worker time ÷ all worker time, over the intervals in which the ideal run has queued deliveries. */
function goodput(workers: number, seen: Observations, { waitingFromMs, waitingToMs }: Ideal): number {
  const before: number[] = [0];
  for (const [index, fromMs] of waitingFromMs.entries()) {
    before.push((before[index] as number) + (waitingToMs[index] as number) - fromMs);
  }
  /** The total length of those intervals before a time. */
  const waitingBefore = (atMs: number): number => {
    let low = 0;
    let high = waitingFromMs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((waitingFromMs[middle] as number) <= atMs) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    return (
      (before[low - 1] as number) +
      Math.min(atMs, waitingToMs[low - 1] as number) -
      (waitingFromMs[low - 1] as number)
    );
  };
  let busyMs = 0;
  for (const [index, fromMs] of seen.busyFromMs.entries()) {
    busyMs += waitingBefore(seen.busyToMs[index] as number) - waitingBefore(fromMs);
  }
  return busyMs / (workers * (before.at(-1) as number));
}

/** The results by key of the senders. */
function keyResults({ senders }: Scenario, traffic: Traffic, seen: Observations): Map<string, KeyResults> {
  const keys = new Map(senders.map(({ key }) => [key, new KeyFigures()]));
  const bySender = senders.map(({ key }) => keys.get(key) as KeyFigures);
  for (let i = 0; i < traffic.count; i += 1) {
    bySender[traffic.sender[i] as number]?.add(i, traffic.firstMs[i] as number, seen);
  }
  return new Map(
    [...keys].map(([key, figures]) => {
      const endpoints = seen.endpoints.filter((_, index) => senders[index]?.key === key);
      return [key, figures.results(endpoints)];
    }),
  );
}

class KeyFigures {
  #events = 0;
  #lost = 0;
  #handledInVain = 0;
  #handledAgain = 0;
  #attempts = 0;
  #refused = 0;
  readonly #waitsMs: number[] = [];
  readonly #delaysMs: number[] = [];

  add(i: number, firstMs: number, seen: Observations): void {
    const handlings = seen.handlings[i] as number;
    const completedMs = seen.completedMs[i] as number;
    this.#events += 1;
    this.#attempts += seen.attempts[i] as number;
    this.#refused += seen.refusals[i] as number;
    this.#handledAgain += Math.max(0, handlings - 1);
    if (Number.isNaN(completedMs)) {
      this.#lost += 1;
      if (handlings > 0) this.#handledInVain += 1;
      return;
    }
    this.#waitsMs.push(seen.waitedMs[i] as number);
    this.#delaysMs.push(completedMs - firstMs);
  }

  results(endpoints: readonly SwitchOffs[]): KeyResults {
    const delays = Float64Array.from(this.#delaysMs).sort();
    const firstOffMs = endpoints.map((one) => one.firstOffMs).filter((ms) => !Number.isNaN(ms));
    return {
      events: this.#events,
      delivered: this.#events - this.#lost,
      lost: this.#lost,
      handledInVain: this.#handledInVain,
      handledAgain: this.#handledAgain,
      attemptsPerEvent: rounded(this.#attempts / this.#events),
      refused: this.#refused,
      p99WaitS: seconds(percentile(Float64Array.from(this.#waitsMs).sort(), 0.99)),
      delayS: { p50: seconds(percentile(delays, 0.5)), p99: seconds(percentile(delays, 0.99)) },
      switchedOff: endpoints.reduce((sum, { switchedOff }) => sum + switchedOff, 0),
      switchedOffS: firstOffMs.length === 0 ? null : seconds(Math.min(...firstOffMs)),
    };
  }
}
