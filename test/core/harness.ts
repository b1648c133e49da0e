import {
  createIntake,
  type Admission,
  type Intake,
  type IntakeEvent,
  type IntakeOptions,
  type IntakeSnapshot,
  type Permit,
  type Refusal,
} from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { expect } from 'vitest';

/** An intake on a manual clock, with everything it reported. */
export interface Bench {
  readonly clock: ManualClock;
  readonly intake: Intake;
  readonly events: IntakeEvent[];
}

export function createBench(options: IntakeOptions = {}): Bench {
  const clock = manualClock();
  const intake = createIntake({ clock, random: () => 0, retryAfter: { strategy: 'depth' }, ...options });
  const events: IntakeEvent[] = [];
  intake.subscribe((event) => events.push(event));
  return { clock, intake, events };
}

/** Runs the action on a clock that loses its timers, like a runtime that drops them with the request that set them. */
export function losingTimers(clock: ManualClock, action: () => void): void {
  const own = clock.setTimeout.bind(clock);
  clock.setTimeout = () => undefined;
  action();
  clock.setTimeout = own;
}

/** Random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The time until the next random event, exponentially distributed with the mean `meanMs`. */
export function exponential(random: () => number, meanMs: number): number {
  return -Math.log(1 - random()) * meanMs;
}

/** Lets the reactions of settled promises run. */
export async function reactions(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await Promise.resolve();
}

export function letIn(result: Admission | Refusal): Admission {
  if (!result.admitted) throw new Error(`refused: ${result.reason}`);
  return result;
}

export function turnedAway(result: Permit | Admission | Refusal): Refusal {
  if (result.admitted) throw new Error('admitted, and not refused');
  return result;
}

/** The permit of a delivery that started immediately. */
export function startedNow(result: Admission | Refusal): Permit {
  const { permit } = letIn(result);
  if (permit instanceof Promise) throw new Error('it waits, and has not started');
  return permit;
}

/** The permit of a delivery that was queued and has started by now. */
export async function startedLater(admission: Admission): Promise<Permit> {
  const result = await admission.permit;
  if (!result.admitted) throw new Error(`refused: ${result.reason}`);
  return result;
}

/** Admits deliveries that start immediately until every worker is busy. */
export function occupy(intake: Intake, key?: string): Permit[] {
  const permits: Permit[] = [];
  for (let { active, concurrency } = intake.snapshot(); active < concurrency; active += 1) {
    permits.push(startedNow(intake.admit({ key })));
  }
  return permits;
}

/** Whether the totals add up: the identity that holds at any moment. */
export function balances({ active, depth, totals }: IntakeSnapshot): boolean {
  const { arrivals, admitted, completed, failed, started, overdue, refused, refusedByStatus, withdrawn } =
    totals;
  const refusals = sum(Object.values(refused));
  const byStatus = sum(Object.values(refusedByStatus).flatMap((counts) => Object.values(counts)));
  const gone = withdrawn.abandoned + withdrawn.expired + withdrawn.displaced + withdrawn.closing;
  return (
    // A dry run admits refused deliveries.
    (arrivals === admitted + refusals || arrivals === admitted) &&
    refusals === byStatus &&
    admitted === completed + failed + active + depth + gone &&
    started === completed + failed + active &&
    overdue <= failed
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function expectBalance(snapshot: IntakeSnapshot): void {
  expect(snapshot).toSatisfy(balances);
}

export function typesOf(events: readonly IntakeEvent[]): string[] {
  return events.map((event) => event.type);
}
