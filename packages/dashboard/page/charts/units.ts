import { bytes, count, duration, percentile, rate, seconds } from '../data/format.ts';

/** How the values of a chart are written, and the steps of its axis. */
export interface Unit {
  readonly text: (value: number | null) => string;
  readonly axis: (value: number) => string;
  readonly steps: number[];
}

const decimal = (from: number): number[] =>
  Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * from * 10 ** power)).flat();

const MINUTES = [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60);
const HOURS = [1, 2, 4, 6, 12, 24, 48, 96, 168, 336, 672].map((hours) => hours * 3600);
const SECONDS = [1, 2, 5, 10, 15, 30, ...MINUTES, ...HOURS];

export const DELIVERIES: Unit = { text: count, axis: count, steps: decimal(1) };

export const PER_SECOND: Unit = {
  text: rate,
  axis: (value) => (value === 0 ? '0' : rate(value)),
  steps: decimal(0.1),
};

export const MILLISECONDS: Unit = {
  text: duration,
  axis: (value) => (value === 0 ? '0' : duration(value)),
  steps: [...decimal(1).filter((step) => step < 1000), ...SECONDS.map((step) => step * 1000)],
};

export const PERCENTILES: Unit = { ...MILLISECONDS, text: percentile };

export const SECONDS_UNIT: Unit = {
  text: seconds,
  axis: (value) => (value === 0 ? '0' : seconds(value)),
  steps: SECONDS,
};

export const BYTES: Unit = {
  text: bytes,
  axis: (value) => (value === 0 ? '0' : bytes(value)),
  steps: Array.from({ length: 42 }, (_, power) => 2 ** power),
};
