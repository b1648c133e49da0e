import type { Outcome } from './outcomes.ts';
import type { Outcomes } from './runs.ts';

/** The means of the seeds; null if a run did not settle. */
export type Mean = { readonly [Measure in keyof Outcome]: number | null } | null;

/** By name of the scenario. */
export type Means = Readonly<Record<string, Mean>>;

export function meansOf(outcomes: Outcomes): Means {
  return Object.fromEntries(Object.entries(outcomes).map(([name, seeds]) => [name, meanOf(seeds)]));
}

function meanOf(seeds: readonly (Outcome | null)[]): Mean {
  const settled = seeds.filter((one) => one !== null);
  const [one] = settled;
  if (one === undefined || settled.length < seeds.length) return null;
  const mean = (measure: keyof Outcome): number | null => {
    const values = settled.flatMap((outcome) => outcome[measure] ?? []);
    const sum = values.reduce((all, value) => all + value, 0);
    return values.length === 0 ? null : Math.round((sum / values.length) * 1e4) / 1e4;
  };
  return Object.fromEntries(
    (Object.keys(one) as (keyof Outcome)[]).map((measure) => [measure, mean(measure)]),
  ) as Mean;
}

/** A measure of one scenario before and after. */
export interface Change {
  readonly scenario: string;
  readonly title: string;
  readonly before: string;
  readonly after: string;
  /** How much worse it is: from 1 on a user would feel it; negative if it is better. */
  readonly weight: number;
}

interface Measured {
  readonly title: string;
  readonly of: (mean: NonNullable<Mean>) => number | null;
  readonly weight: (before: number, after: number) => number;
  readonly digits: number;
  /** It says nothing where many events are lost: those need no attempts and no time. */
  readonly isOfAll?: boolean;
}

/** The share of lost events from which on the measures of all events say nothing. */
const MANY_LOST = 0.2;

/** @param part - more by this part is felt. */
function byPart(part: number): Measured['weight'] {
  return (before, after) => (after === before ? 0 : (after / before - 1) / part);
}

/**
 * Any event that is lost is felt. Where events are lost anyway, chance moves their number by some percent.
 *
 * @param part - from this part on.
 */
function any(part: number): Measured['weight'] {
  return (before, after) => {
    if (after === before) return 0;
    if (before === 0) return 1 + after;
    return after === 0 ? -(1 + before) : byPart(part)(before, after);
  };
}

/** How many times as long the p99 of small tenants may be. */
const TWICE = 1;

/** What a user would feel, and from when on. */
const MEASURES: readonly Measured[] = [
  {
    title: 'lost',
    of: ({ lost, smallLost }) => (lost ?? 0) - (smallLost ?? 0),
    weight: any(0.03),
    digits: 1,
  },
  { title: 'lost of small tenants', of: ({ smallLost }) => smallLost, weight: any(0.03), digits: 1 },
  { title: 'disabled', of: ({ off }) => off, weight: any(0.1), digits: 1 },
  { title: 'attempts', of: ({ attempts }) => attempts, weight: byPart(0.05), digits: 2, isOfAll: true },
  { title: 'clear ÷ ideal', of: ({ clear }) => clear, weight: byPart(0.05), digits: 2, isOfAll: true },
  {
    title: 'goodput',
    of: ({ goodput }) => goodput,
    weight: (before, after) => (before - after) / 0.05,
    digits: 2,
    isOfAll: true,
  },
  {
    title: 'in vain or again',
    of: ({ inVain, again, events }) => ((inVain ?? 0) + (again ?? 0)) / (events ?? 1),
    weight: (before, after) => (after - before) / 0.05,
    digits: 2,
  },
  {
    title: 'p99 of small tenants (s)',
    of: ({ smallP99 }) => smallP99,
    weight: (before, after) => (after > before ? byPart(TWICE)(before, after) : 1 - before / after),
    digits: 1,
  },
  { title: 'p99 of handling (s)', of: ({ handling }) => handling, weight: byPart(0.25), digits: 2 },
];

/** Compares the measures of all scenarios, the worst change first. */
export function changesOf(before: Means, after: Means): Change[] {
  const changes = Object.entries(before).flatMap(([scenario, one]) => {
    const other = after[scenario];
    if (other === undefined || (one === null && other === null)) return [];
    if (one === null || other === null) return [settling(scenario, other === null)];
    const areFew = [one, other].every(({ lost, events }) => (lost ?? 0) < MANY_LOST * (events ?? 0));
    return MEASURES.flatMap(({ title, of, weight, digits, isOfAll = false }) => {
      if (isOfAll && !areFew) return [];
      const [from, to] = [of(one), of(other)];
      if (from === null || to === null || from === to) return [];
      const [before, after] = [from.toFixed(digits), to.toFixed(digits)];
      return [{ scenario, title, before, after, weight: weight(from, to) }];
    });
  });
  return changes.sort((a, b) => b.weight - a.weight);
}

function settling(scenario: string, isWorse: boolean): Change {
  const [before, after] = isWorse ? ['yes', 'no'] : ['no', 'yes'];
  return { scenario, title: 'settles', before, after, weight: isWorse ? Infinity : -Infinity };
}
