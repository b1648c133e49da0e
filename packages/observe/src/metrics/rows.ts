import { ALARM_RULES, ENDPOINT_ALARM_RULES } from '../alarms/alarm-rules.ts';
import type { ActiveAlarm } from '../alarms/alarm.ts';
import type { Attributes, Metric } from './metric.ts';

/** The source of the metrics: an intake, an inbox or a sender. */
export interface Readable {
  readonly snapshot: { readonly totals: object };
  /** The part of the totals that can be counted for each key. */
  readonly keyTotals: object;
  readonly event: { readonly type: string };
}

/** A value read from a snapshot or from totals. */
export interface Reading {
  readonly value: number;
  readonly attributes?: Attributes;
}

type EventOf<R extends Readable, T> = Extract<R['event'], { readonly type: T }>;

/** A metric, and how it is read. */
export interface Row<R extends Readable> extends Metric {
  /** Reads a gauge or a counter. */
  readonly read: (snapshot: R['snapshot']) => readonly Reading[];
  /** Reads the gauges of single keys. */
  readonly readKeys?: (snapshot: R['snapshot']) => ReadonlyMap<string, number>;
  /** Reads a counter from the totals of one key, with the same attributes in the same order. */
  readonly readKey?: (totals: R['keyTotals']) => readonly Reading[];
  /** The values of a histogram, by the type of the event. */
  readonly values?: ReadonlyMap<string, (event: R['event']) => number | undefined>;
}

/** The metrics of one kind of source, and how they are counted for each key. */
export interface Table<R extends Readable> {
  readonly rows: readonly Row<R>[];
  /** The names of the attributes: of the key, and of the sender if there is one. */
  readonly labels: readonly [key: string, sender?: string];
  /** The totals of a new key, all 0. */
  readonly create: () => R['keyTotals'];
  /** Count an event in the totals of its key. Each of these events has a key and perhaps a sender, or an endpoint. */
  readonly counts: Counts<R>;
}

export type Counts<R extends Readable> = {
  readonly [T in R['event']['type']]?: (totals: R['keyTotals'], event: EventOf<R, T>) => void;
};

/** What a value is read from: a field, or more than that. Null is not known, and has no sample. */
type Read<S> =
  | { [F in keyof S]: S[F] extends number | null ? F : never }[keyof S]
  | ((source: S) => number | null | readonly Reading[]);

/** The rarely needed properties of a metric. */
interface Extras {
  /** Instead of the name that follows from that in OpenTelemetry. */
  readonly prometheusName?: string;
  readonly attributes?: readonly string[];
}

/** Metrics by name, each with a description: one sentence without its full stop. */
type Values<S> = Readonly<Record<string, readonly [description: string, read: Read<S>, extras?: Extras]>>;
type Histograms<R extends Readable> = Readonly<
  Record<
    string,
    readonly [
      description: string,
      values: { readonly [T in R['event']['type']]?: (event: EventOf<R, T>) => number | undefined },
    ]
  >
>;

/** Makes the rows of a table whose names begin with `prefix`. */
export class RowMaker<R extends Readable> {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  gauges(unit: string, values: Values<R['snapshot']>): Row<R>[] {
    return Object.entries(values).map(([name, [description, read, extras]]) => ({
      ...this.#describe(name, unit, description, 'gauge', extras),
      read: (snapshot) => readingsOf(read, snapshot),
    }));
  }

  /** Gauges of single keys, which have no value for all together. */
  keyGauges(
    values: Readonly<
      Record<string, readonly [unit: string, description: string, Row<R>['readKeys'] & object]>
    >,
  ): Row<R>[] {
    return Object.entries(values).map(([name, [unit, description, readKeys]]) => ({
      ...this.#describe(name, unit, description, 'gauge'),
      isByKey: true,
      read: () => [],
      readKeys,
    }));
  }

  counters(unit: string, values: Values<R['snapshot']['totals']>): Row<R>[] {
    return Object.entries(values).map(([name, [description, read, extras]]) => ({
      ...this.#describe(name, unit, description, 'counter', extras),
      read: ({ totals }) => readingsOf<R['snapshot']['totals']>(read, totals),
    }));
  }

  /** Counters that are also counted for each key. */
  keyCounters(unit: string, values: Values<R['keyTotals']>): Row<R>[] {
    return Object.entries(values).map(([name, [description, read, extras]]) => ({
      ...this.#describe(name, unit, description, 'counter', extras),
      isByKey: true,
      read: ({ totals }) => readingsOf(read, totals as R['keyTotals']),
      readKey: (totals) => readingsOf(read, totals),
    }));
  }

  /** @param isByKey - whether the events carry a key and a sender. */
  histograms(
    unit: string,
    buckets: readonly number[],
    isByKey: boolean,
    histograms: Histograms<R>,
  ): Row<R>[] {
    return Object.entries(histograms).map(([name, [description, values]]) => ({
      ...this.#describe(name, unit, description, 'histogram'),
      isByKey,
      buckets,
      read: () => [],
      values: new Map(Object.entries(values) as [string, (event: R['event']) => number | undefined][]),
    }));
  }

  #describe(
    name: string,
    unit: string,
    description: string,
    kind: Metric['kind'],
    { prometheusName, attributes = [] }: Extras = {},
  ): Metric {
    const full = `${this.#prefix}.${name}`;
    return {
      name: full,
      prometheusName: prometheusName ?? prometheusNameOf(full, unit, kind),
      kind,
      unit,
      description,
      attributes,
      isByKey: false,
    };
  }
}

const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/**
 * The name that OpenTelemetry's exporters would give to a metric in Prometheus: underscores instead of dots, the unit, and
 * `_total` for counters. A unit in braces is left out, and `/s` becomes `_per_second`.
 */
export function prometheusNameOf(name: string, unit: string, kind: Metric['kind']): string {
  const suffix = unit.endsWith('/s') ? '_per_second' : (SUFFIXES[unit] ?? '');
  return `${name.replaceAll('.', '_')}${suffix}${kind === 'counter' ? '_total' : ''}`;
}

function readingsOf<S>(read: Read<S>, source: S): readonly Reading[] {
  const found = typeof read === 'function' ? read(source) : (source[read] as number | null);
  if (found === null) return [];
  return typeof found === 'number' ? [{ value: found }] : found;
}

/** One reading for each name, with the name as the value of `attribute`. */
export function readingsByName(
  attribute: string,
  counts: Readonly<Record<string, number>>,
): readonly Reading[] {
  return Object.entries(counts).map(([name, value]) => ({ value, attributes: { [attribute]: name } }));
}

/** One reading for each reason and status. */
export function readingsOfRefusals({
  refusedByStatus,
}: {
  readonly refusedByStatus: Readonly<Record<429 | 503, Readonly<Record<string, number>>>>;
}): readonly Reading[] {
  return ([429, 503] as const).flatMap((status) =>
    Object.entries(refusedByStatus[status]).map(([reason, value]) => ({
      value,
      attributes: { reason, status: String(status) },
    })),
  );
}

/** Reads how often each alarm is raised, which is at most 1 unless it is about single endpoints. */
export function readingsOfAlarms(
  defaults: object,
): (source: { readonly alarms: readonly ActiveAlarm[] }) => readonly Reading[] {
  const codes = [...ALARM_RULES, ...ENDPOINT_ALARM_RULES]
    .filter(({ option }) => option in defaults)
    .map(({ code }) => code);
  return ({ alarms }) =>
    codes.map((code) => ({
      value: alarms.filter((alarm) => alarm.code === code).length,
      attributes: { code },
    }));
}

/** Upper bounds for waits, handling times and commits, in seconds: 1 ms to 60 s. */
export const DURATION_BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** Upper bounds for Retry-After, in seconds: from the shortest possible value to the default `maxSeconds`. */
export const RETRY_AFTER_BUCKETS: readonly number[] = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
];
