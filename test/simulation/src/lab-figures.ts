import {
  drawTraffic,
  parseScenario,
  ScenarioError,
  simulate,
  type Scenario,
  type Simulation,
  type Traffic,
} from '@webhook-backpressure/planner/parts';
import type { LabRun } from './lab-runs.ts';
import { boundOf } from './bound/bound.ts';

/** What happened to the events of one sender. Times are in seconds; null without a measurement. */
export interface LabFigures {
  readonly events: number;
  /** Null if the run was stopped: see {@link MAX_ATTEMPTS}. */
  readonly lost: number | null;
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

/** By name of the run. */
export type LabReport = Readonly<Record<string, LabResult>>;

/**
 * A run with a plain queue is stopped at this many attempts per event. Where all attempts time out in the queue, and the
 * retries are more than the workers can handle, it does not recover until the sender gives up, after days.
 */
export const MAX_ATTEMPTS = 12;

const UNKNOWN = { attempts: null, p50: null, p99: null, off: 0, inVain: 0, again: 0 };

/** Makes one run. */
export async function figuresOf({ receiver, scenario }: LabRun): Promise<LabResult> {
  if (receiver === 'bound') {
    const { parsed, traffic } = read(scenario);
    const { events, lost } = boundOf(parsed, traffic);
    return { all: { events, lost, ...UNKNOWN } };
  }
  if (receiver !== 'none' && receiver !== 'constant') return resultOf(await simulate(scenario));
  const { parsed, traffic } = read(scenario);
  try {
    return resultOf(await simulate(scenario, undefined, MAX_ATTEMPTS * traffic.count));
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return stopped(parsed.senders, traffic);
  }
}

function read(scenario: object): { parsed: Scenario; traffic: Traffic } {
  const parsed = parseScenario(scenario);
  return { parsed, traffic: drawTraffic(parsed) };
}

function stopped(senders: Scenario['senders'], { sender }: Traffic): LabResult {
  return Object.fromEntries(
    senders.map(({ key }, index) => {
      const events = sender.reduce((count, one) => (one === index ? count + 1 : count), 0);
      return [key, { ...UNKNOWN, events, lost: null }];
    }),
  );
}

function resultOf({ results }: Simulation): LabResult {
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
