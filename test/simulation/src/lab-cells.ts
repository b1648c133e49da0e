import { MAX_ATTEMPTS, type LabFigures, type LabResult } from './lab-figures.ts';

/** The figures of a sender that was simulated alone. Undefined without a run. */
export function ofSender(result: LabResult | undefined): LabFigures | undefined {
  return Object.values(result ?? {})[0];
}

/** For each figure its largest value. Undefined without any. */
export function worstOf(all: readonly LabFigures[]): LabFigures | undefined {
  return all.length === 0 ? undefined : all.reduce(worse);
}

function worse(a: LabFigures, b: LabFigures): LabFigures {
  if (a.lost === null || b.lost === null) return a.lost === null ? a : b;
  const { events, lost, inVain, again } = lostShare(b) > lostShare(a) ? b : a;
  return {
    events,
    lost,
    inVain,
    again,
    attempts: most(a.attempts, b.attempts),
    p50: most(a.p50, b.p50),
    p99: most(a.p99, b.p99),
    off: Math.max(a.off, b.off),
  };
}

function most(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

/** All, if the run was stopped. */
export function lostShare({ events, lost }: LabFigures): number {
  return events === 0 ? 0 : (lost ?? events) / events;
}

/** All figures of a cell: lost, attempts, delays, and whether the endpoint was disabled. */
export function cell(figures: LabFigures | undefined): string {
  if (figures === undefined) return '–';
  const { lost, attempts, p50, p99, off } = figures;
  if (lost === null) return `> ${String(MAX_ATTEMPTS)} attempts`;
  if (attempts === null) return percent(lostShare(figures));
  const parts = [percent(lostShare(figures)), attempts.toFixed(2), `${duration(p50)} / ${duration(p99)}`];
  return [...parts, ...(off > 0 ? ['**off**'] : [])].join(', ');
}

const PERCENT = 100;

/** A share in percent, never rounded to 0 % if something is lost. */
export function percent(share: number): string {
  if (share === 0) return '0 %';
  const value = share * PERCENT;
  if (value < 0.1) return '< 0.1 %';
  return `${value.toFixed(1)} %`;
}

const UNITS = [
  { seconds: 86_400, unit: 'd' },
  { seconds: 3600, unit: 'h' },
  { seconds: 60, unit: 'min' },
] as const;
/** From this many of a unit on, the unit is used. */
const FROM = 2;

/** A time in the largest unit of which there are at least two. */
export function duration(s: number | null): string {
  if (s === null) return '–';
  const found = UNITS.find(({ seconds }) => s >= FROM * seconds);
  if (found === undefined) return s < 1 ? `${s.toFixed(1)} s` : `${String(Math.round(s))} s`;
  return `${String(Math.round(s / found.seconds))} ${found.unit}`;
}
