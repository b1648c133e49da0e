import { percentile } from '../base/statistics.ts';
import type { Observations } from '../observations/observations.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Traffic } from '../traffic/traffic.ts';
import type { PlannedMode } from './configuration.ts';
import { bytesPerDelivery } from './memory.ts';

/** The input and the observations of a run. */
export interface Played {
  readonly scenario: Scenario;
  readonly traffic: Traffic;
  readonly seen: Observations;
}

/** What a configuration does with some deliveries. Times are in seconds; null without any. */
export interface Figures {
  /** Distinct deliveries. */
  readonly events: number;
  /** Deliveries that were never handled to the end: their sender has given up. */
  readonly lost: number;
  /** Requests ÷ deliveries. */
  readonly attemptsPerEvent: number;
  /** From the first attempt to the end of the handling, of handled deliveries. */
  readonly delayS: { readonly p50: number | null; readonly p99: number | null };
}

/** What a configuration does with the deliveries of one sender. */
export interface SenderOutcome extends Figures {
  /** The name of the sender. */
  readonly name: string;
  /** Whether the sender disables the endpoint, because of too many failures. */
  readonly switchedOff: boolean;
}

/** What a configuration does with all deliveries. */
export interface Outcome extends Figures {
  /** The same by sender. */
  readonly senders: readonly SenderOutcome[];
  /** From the beginning of the burst until the last delivery that arrived before its end was handled, in seconds. */
  readonly burstDoneS: number | null;
  /** The most deliveries that were queued, or stored and unfinished. */
  readonly maxDepth: number;
  /** The memory that they took, in bytes, besides the bodies. 0 in mode `inbox`, whose store has them on disk. */
  readonly memoryBytes: number;
}

/** Collects the figures of a group of deliveries. */
class Group {
  events = 0;
  lost = 0;
  attempts = 0;
  readonly #delaysMs: number[] = [];

  add(attempts: number, delayMs: number): void {
    this.events += 1;
    this.attempts += attempts;
    if (Number.isNaN(delayMs)) this.lost += 1;
    else this.#delaysMs.push(delayMs);
  }

  figures(): Figures {
    const sorted = Float64Array.from(this.#delaysMs).sort();
    return {
      events: this.events,
      lost: this.lost,
      attemptsPerEvent: this.events === 0 ? 0 : rounded(this.attempts / this.events),
      delayS: { p50: secondsOf(percentile(sorted, 0.5)), p99: secondsOf(percentile(sorted, 0.99)) },
    };
  }
}

/** @param burst - when it arrives. */
export function outcomeOf(
  { scenario, traffic, seen }: Played,
  mode: PlannedMode,
  burst: { readonly fromS: number; readonly toS: number },
): Outcome {
  const all = new Group();
  const groups = scenario.senders.map(() => new Group());
  let lastMs = -Infinity;
  for (let i = 0; i < traffic.count; i += 1) {
    const attempts = seen.attempts[i] as number;
    const completedMs = seen.completedMs[i] as number;
    const firstMs = traffic.firstMs[i] as number;
    if (firstMs < 1000 * burst.toS && completedMs >= lastMs) lastMs = completedMs;
    const delayMs = completedMs - firstMs;
    all.add(attempts, delayMs);
    groups[traffic.sender[i] as number]?.add(attempts, delayMs);
  }
  return {
    ...all.figures(),
    senders: groups.map((group, index) => ({
      name: scenario.senders[index]?.key ?? '',
      ...group.figures(),
      switchedOff: (seen.endpoints[index]?.switchedOff ?? 0) > 0,
    })),
    burstDoneS: lastMs === -Infinity ? null : secondsOf(Math.max(0, lastMs - 1000 * burst.fromS)),
    maxDepth: seen.maxDepth,
    memoryBytes: seen.maxDepth * bytesPerDelivery(mode),
  };
}

function secondsOf(ms: number): number | null {
  return Number.isNaN(ms) ? null : rounded(ms / 1000);
}

/** To milliseconds: more would only show the order of additions. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
