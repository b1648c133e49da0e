/** Maps values to positions along an axis. */
export interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

const TICKS = 5;

/** A linear scale with round ticks. */
export function scale(from: number, to: number, start: number, end: number): Scale {
  const rough = (to - from) / TICKS;
  let power = 1;
  while (power * 10 <= rough) power *= 10;
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? power;
  return linear(from, to, start, end, step);
}

/** A linear scale of seconds, with ticks at whole seconds, minutes or hours. */
export function timeScale(toS: number, start: number, end: number): Scale {
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 36_000, 86_400];
  return linear(0, toS, start, end, steps.find((step) => toS / step <= TICKS + 1) ?? toS);
}

function linear(from: number, to: number, start: number, end: number, step: number): Scale {
  const ticks: number[] = [];
  for (let tick = from; tick <= to; tick += step) ticks.push(tick);
  return { at: (value) => start + ((value - from) / (to - from)) * (end - start), ticks };
}

/** A logarithmic scale with ticks at powers of ten. Values below `from` are at the start. */
export function logScale(from: number, to: number, start: number, end: number): Scale {
  const low = Math.floor(Math.log10(from));
  const high = Math.max(low + 1, Math.ceil(Math.log10(to)));
  return logarithmic(
    Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
    start,
    end,
  );
}

const DURATIONS_S = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, 360_000, 3_600_000];

/** The same for seconds, with ticks at round times. */
export function logTimeScale(from: number, to: number, start: number, end: number): Scale {
  const first = Math.max(
    0,
    DURATIONS_S.findLastIndex((s) => s <= from),
  );
  const last = DURATIONS_S.findIndex((s) => s >= to);
  return logarithmic(DURATIONS_S.slice(first, Math.max(first + 1, last) + 1), start, end);
}

function logarithmic(ticks: readonly number[], start: number, end: number): Scale {
  const low = Math.log10(ticks[0] as number);
  const high = Math.log10(ticks.at(-1) as number);
  return {
    at: (value) => {
      const power = value <= 0 ? low : Math.max(low, Math.log10(value));
      return start + ((power - low) / (high - low)) * (end - start);
    },
    ticks,
  };
}
