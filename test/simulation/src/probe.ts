import type { Intake } from '@webhook-backpressure/core';
import { type Simulation, simulate } from '@webhook-backpressure/planner/parts';
import type { ScenarioJson } from './comparisons.ts';

/** A figure to reach, and its bound at every seed. */
export interface ProbeGoal {
  readonly figure: string;
  readonly rule: 'at most' | 'at least';
  readonly bound: number;
}

/** A measurement that needs more than the results of one run: snapshots during the run, or a second run. */
export interface Probe {
  readonly name: string;
  readonly title: string;
  readonly goals: readonly ProbeGoal[];
  /** The figures of one seed, in the order of the goals; null without a measurement. */
  run(seed: number): Promise<readonly (number | null)[]>;
}

/** The probes under one heading of the report. */
export interface Subject {
  readonly title: string;
  readonly about: readonly string[];
  readonly probes: readonly Probe[];
}

export function atMost(figure: string, bound: number): ProbeGoal {
  return { figure, rule: 'at most', bound };
}

export function atLeast(figure: string, bound: number): ProbeGoal {
  return { figure, rule: 'at least', bound };
}

const STEP_MS = 100;

/** The readings of the intake every 100 ms of a run. */
export interface Recording {
  readonly simulation: Simulation;
  /** The readings in [fromS, toS). */
  readonly between: (fromS: number, toS: number) => number[];
}

export async function record(
  scenario: ScenarioJson,
  read: (snapshot: ReturnType<Intake['snapshot']>) => number,
): Promise<Recording> {
  const readings: number[] = [];
  const simulation = await simulate(scenario, {
    everyMs: STEP_MS,
    read: (intake) => readings.push(read(intake.snapshot())),
  });
  return {
    simulation,
    between: (fromS, toS) => readings.slice((fromS * 1000) / STEP_MS, (toS * 1000) / STEP_MS),
  };
}

/** Seconds until the first reading of {@link record} for which `holds` returns true; null without one. */
export function secondsUntil(
  readings: readonly number[],
  holds: (reading: number) => boolean,
): number | null {
  const index = readings.findIndex(holds);
  return index < 0 ? null : (index * STEP_MS) / 1000;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The largest relative error. */
export function largestError(values: readonly number[], truth: number): number {
  return Math.max(...values.map((value) => Math.abs(value / truth - 1)));
}
