/** How long a source was in a state without a break, in milliseconds since 1970. */
export interface Span {
  readonly state: string;
  readonly from: number;
  readonly to: number;
}

/** A sample covers the time up to the next one, but no longer than this: a gap is not shown as a state. */
const MAX_SAMPLE_MS = 2500;

/** Joins samples of the same state. */
export function spansOf(at: readonly number[], states: readonly (string | null)[]): Span[] {
  const spans: { state: string; from: number; to: number }[] = [];
  for (const [index, from] of at.entries()) {
    const state = states[index];
    if (state === null || state === undefined) continue;
    const next = at[index + 1];
    const to = next === undefined ? from : Math.min(next, from + MAX_SAMPLE_MS);
    const last = spans.at(-1);
    if (last?.state === state && last.to === from) last.to = to;
    else spans.push({ state, from, to });
  }
  return spans;
}

/** The time spent in each state, and how often it began. The longest first. */
export function timeByState(
  spans: readonly Span[],
): readonly { readonly state: string; readonly ms: number; readonly times: number }[] {
  const sums = new Map<string, { ms: number; times: number }>();
  for (const { state, from, to } of spans) {
    const sum = sums.get(state) ?? { ms: 0, times: 0 };
    sums.set(state, { ms: sum.ms + to - from, times: sum.times + 1 });
  }
  return [...sums].map(([state, sum]) => ({ state, ...sum })).sort((a, b) => b.ms - a.ms);
}

export interface Extent {
  readonly last: number | null;
  readonly least: number | null;
  readonly most: number | null;
}

/** The last, least and greatest of the known values. */
export function extentOf(values: readonly (number | null)[]): Extent {
  let least: number | null = null;
  let most: number | null = null;
  for (const value of values) {
    if (value === null) continue;
    if (least === null || value < least) least = value;
    if (most === null || value > most) most = value;
  }
  return { last: values.at(-1) ?? null, least, most };
}

export interface Row {
  /** When the row begins, in milliseconds since 1970. */
  readonly at: number;
  /** One extent for each column. */
  readonly extents: readonly Extent[];
}

/** Columns summed up per minute, the newest first, for tables. */
export function byMinute(at: readonly number[], columns: readonly (readonly (number | null)[])[]): Row[] {
  const rows: Row[] = [];
  let start = 0;
  for (let index = 1; index <= at.length; index++) {
    if (index < at.length && minuteOf(at[index]) === minuteOf(at[start])) continue;
    rows.push({
      at: minuteOf(at[start]) * 60_000,
      extents: columns.map((column) => extentOf(column.slice(start, index))),
    });
    start = index;
  }
  return rows.reverse();
}

function minuteOf(at = 0): number {
  return Math.floor(at / 60_000);
}
