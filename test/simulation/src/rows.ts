import type { Measures } from './measures.ts';

/** A figure to reach: a bound on one measure, at every seed. */
export interface Goal {
  readonly measure: keyof Measures;
  readonly rule: 'at most' | 'at least';
  readonly bound: number;
}

/** A named scenario with its figures to reach. */
export interface Row {
  /** The name of its file in `scenarios/` and of its plot. */
  readonly name: string;
  readonly title: string;
  readonly goals: readonly Goal[];
}

/** The drain rate of all named scenarios, per second: ten workers, 100 ms each. */
const DRAIN_RATE = 100;

function atMost(measure: keyof Measures, bound: number): Goal {
  return { measure, rule: 'at most', bound };
}

function atLeast(measure: keyof Measures, bound: number): Goal {
  return { measure, rule: 'at least', bound };
}

function burst(attempts: number, toggles: number): Goal[] {
  return [
    atMost('attemptsPerEvent', attempts),
    atMost('maxAttempts', 3),
    atMost('gateToggles', toggles),
    atMost('peakReturnsPerSecond', 2 * DRAIN_RATE),
    atLeast('goodput', 0.98),
  ];
}

/** A cold start or a pause: the first measured pace is wrong. */
function slowStart(): Goal[] {
  return [
    atMost('clearRatio', 1.4),
    atMost('attemptsPerEvent', 3.1),
    atMost('lost', 0),
    atMost('peakReturnsPerSecond', 6 * DRAIN_RATE),
  ];
}

export const ROWS: readonly Row[] = [
  {
    name: 'a',
    title: 'A: 50,000 deliveries in 40 s, nothing after',
    goals: [
      atMost('attemptsPerEvent', 2.9),
      atMost('clearRatio', 1.05),
      atMost('lost', 0),
      atMost('peakReturnsPerSecond', 6 * DRAIN_RATE),
    ],
  },
  {
    name: 'a-warm',
    title: 'A after five minutes of 30/s, which continue',
    goals: [
      atMost('attemptsPerEvent', 2.05),
      atMost('clearRatio', 1.05),
      atMost('lost', 0),
      atMost('peakReturnsPerSecond', 3 * DRAIN_RATE),
    ],
  },
  {
    name: 'a-unknown',
    title: 'A, ids unknown',
    goals: [atMost('attemptsPerEvent', 3), atMost('clearRatio', 1.1)],
  },
  { name: 'b-200', title: 'B: 60/s for 15 minutes, 200/s in all from 60 to 90 s', goals: burst(1.1, 30) },
  { name: 'b-500', title: 'B, 500/s in all', goals: burst(1.25, 30) },
  { name: 'b-1000', title: 'B, 1,000/s in all', goals: burst(1.45, 40) },
  {
    name: 'b-500-give-up',
    title: 'B, 500/s in all, senders give up after 8 attempts',
    goals: [atMost('lost', 0)],
  },
  {
    name: 'b-500-unknown',
    title: 'B, 500/s in all, ids unknown',
    goals: [atMost('attemptsPerEvent', 1.3), atMost('maxAttempts', 5), atMost('lost', 0)],
  },
  {
    name: 'b-500-ignoring',
    title: 'B, 500/s in all, 30 % of the senders ignore Retry-After',
    goals: [atMost('attemptsPerEvent', 1.45), atMost('lost', 0)],
  },
  {
    name: 'c',
    title: 'C: 60/s for 20 minutes, 150/s in all from 60 to 360 s',
    goals: [atMost('attemptsPerEvent', 1.35), atLeast('goodput', 0.98)],
  },
  {
    name: 'd',
    title: 'D: B, 500/s in all, and all workers stall from 75 to 95 s',
    goals: [atLeast('retryAfterRise', 3), atMost('peakReturnsPerSecond', 3 * DRAIN_RATE)],
  },
  {
    name: 'slow-stall',
    title: 'Slow start: 10,000 in 10 s, and all workers stall from 0.5 to 4 s',
    goals: slowStart(),
  },
  {
    name: 'slow-6',
    title: 'Slow start: 10,000 in 10 s, handled ten times slower for the first 6 s',
    goals: slowStart(),
  },
  {
    name: 'slow-20',
    title: 'Slow start: 10,000 in 10 s, handled ten times slower for the first 20 s',
    goals: slowStart(),
  },
  {
    name: 'slow-20-warm',
    title:
      'Slow in the middle: 400/s for 40 s after five minutes of 30/s, ten times slower from its 10th to its 30th second',
    goals: slowStart(),
  },
  {
    name: 'slow-100',
    title: 'Slow start: 10,000 in 10 s, handled a hundred times slower for the first 10.5 s',
    goals: slowStart(),
  },
];
