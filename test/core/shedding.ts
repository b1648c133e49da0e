import type { Admission, Delivery, RefusalReason } from '@webhook-backpressure/core';
import { expect } from 'vitest';
import { createBench, letIn, occupy, type Bench } from './harness.ts';

// Marks at 80 and 50; a reserve of 20, of which small keys may use 15. Half of it is 10.
export const CAPACITY = 100;
export const HIGH = 80;
export const LOW = 50;
export const HALF = 10;
/** What a key gets that holds much, while another key asks. */
export const QUARTER = 5;
export const SMALL = 15;

export interface Shedding extends Bench {
  readonly waiting: Admission[];
}

/** An intake whose queue has just reached the high-water mark by deliveries of `key`. */
export function shedding(key = 'burst', capacity = CAPACITY): Shedding {
  const bench = createBench({ capacity, concurrency: 1, maxWaitMs: 60_000, maxHandlingMs: 86_400_000 });
  occupy(bench.intake, key);
  const { highWater } = bench.intake.snapshot();
  const waiting = Array.from({ length: highWater }, () => letIn(bench.intake.admit({ key })));
  expect(bench.intake.snapshot().state).toBe('shedding');
  return { ...bench, waiting };
}

export function answer({ intake }: Bench, delivery: Delivery): RefusalReason | 'admitted' {
  const result = intake.admit(delivery);
  return result.admitted ? 'admitted' : result.reason;
}

/** How many of `count` deliveries are admitted. */
export function flood(bench: Bench, count: number, delivery: (i: number) => Delivery): number {
  let admitted = 0;
  for (let i = 0; i < count; i += 1) if (answer(bench, delivery(i)) === 'admitted') admitted += 1;
  return admitted;
}

export function leave({ waiting }: Shedding, count: number): void {
  for (const one of waiting.splice(0, count)) one.leave();
}
