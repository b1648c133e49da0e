import { prometheusNameOf } from './prometheus-name.ts';
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

export interface GaugeRow<R extends Readable> extends Metric {
  readonly kind: 'gauge';
  readonly read: (snapshot: R['snapshot']) => readonly Reading[];
  /** Reads the values of keys; absent if not `isByKey`. */
  readonly readKeys?: (snapshot: R['snapshot']) => ReadonlyMap<string, number>;
}

export interface CounterRow<R extends Readable> extends Metric {
  readonly kind: 'counter';
  readonly read: (totals: R['snapshot']['totals']) => readonly Reading[];
  /** Reads the same from the totals of one key, with the same attributes in the same order; absent if not `isByKey`. */
  readonly readKey?: (totals: R['keyTotals']) => readonly Reading[];
}

export interface HistogramRow<R extends Readable> extends Metric {
  readonly kind: 'histogram';
  readonly buckets: readonly number[];
  /** The types of the events that carry its values. */
  readonly on: readonly R['event']['type'][];
  /** The value of such an event; undefined if it has none. */
  readonly valueOf: (event: R['event']) => number | undefined;
}

/** A metric, and how it is read. */
export type Row<R extends Readable> = GaugeRow<R> | CounterRow<R> | HistogramRow<R>;

/** The rarely needed properties of a metric. */
interface Extras {
  /** Instead of the name that follows from that in OpenTelemetry. */
  readonly prometheusName?: string;
  readonly attributes?: readonly string[];
}

type EventOf<R extends Readable, T> = Extract<R['event'], { readonly type: T }>;

/** Makes the rows of a table whose names begin with `prefix`. Each description is one sentence without its full stop. */
export class RowMaker<R extends Readable> {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** @param read - the value, its samples, or null if it is not known and has no sample. */
  gauge(
    name: string,
    unit: string,
    description: string,
    read: (snapshot: R['snapshot']) => number | null | readonly Reading[],
    extras: Extras = {},
  ): GaugeRow<R> {
    return {
      ...this.#describe(name, unit, description, 'gauge', extras),
      ...{ kind: 'gauge', read: (snapshot) => readingsOf(read(snapshot)) },
    };
  }

  /** A gauge of single keys, which has no value for all together. */
  keyGauge(
    name: string,
    unit: string,
    description: string,
    readKeys: (snapshot: R['snapshot']) => ReadonlyMap<string, number>,
  ): GaugeRow<R> {
    return {
      ...this.#describe(name, unit, description, 'gauge', {}),
      ...{ kind: 'gauge', isByKey: true, read: () => [], readKeys },
    };
  }

  counter(
    name: string,
    unit: string,
    description: string,
    read: (totals: R['snapshot']['totals']) => number | readonly Reading[],
    extras: Extras = {},
  ): CounterRow<R> {
    return {
      ...this.#describe(name, unit, description, 'counter', extras),
      ...{ kind: 'counter', read: (totals) => readingsOf(read(totals)) },
    };
  }

  /** A counter that is also counted for each key: of deliveries, unless the unit says otherwise. */
  keyCounter(
    name: string,
    description: string,
    read: (totals: R['keyTotals']) => number | readonly Reading[],
    { unit = '{delivery}', ...extras }: Extras & { readonly unit?: string } = {},
  ): CounterRow<R> {
    const readKey = (totals: R['keyTotals']): readonly Reading[] => readingsOf(read(totals));
    return {
      ...this.#describe(name, unit, description, 'counter', extras),
      ...{ kind: 'counter', isByKey: true, readKey, read: readKey },
    };
  }

  /**
   * @param isByKey - whether the events carry a key and a sender.
   * @param on - the types of the events.
   */
  histogram<T extends R['event']['type']>(
    name: string,
    unit: string,
    description: string,
    buckets: readonly number[],
    isByKey: boolean,
    on: readonly T[],
    valueOf: (event: EventOf<R, T>) => number | undefined,
  ): HistogramRow<R> {
    return {
      ...this.#describe(name, unit, description, 'histogram', {}),
      ...{ kind: 'histogram', isByKey, buckets, on },
      valueOf: (event) => valueOf(event as EventOf<R, T>),
    };
  }

  #describe(
    name: string,
    unit: string,
    description: string,
    kind: Metric['kind'],
    extras: Extras,
  ): Omit<Metric, 'kind'> {
    const full = `${this.#prefix}.${name}`;
    const { prometheusName = prometheusNameOf(full, unit, kind), attributes = [] } = extras;
    return { name: full, prometheusName, unit, description, attributes, isByKey: false };
  }
}

function readingsOf(read: number | null | readonly Reading[]): readonly Reading[] {
  if (read === null) return [];
  return typeof read === 'number' ? [{ value: read }] : read;
}

/** One reading for each name, with the name as the value of `attribute`. */
export function readingsByName(
  attribute: string,
  counts: Readonly<Record<string, number>>,
): readonly Reading[] {
  return Object.entries(counts).map(([name, value]) => ({ value, attributes: { [attribute]: name } }));
}

/** One reading for each of the `values`: 1 for the current one, and 0 for the others. */
export function readingsOfState(values: readonly string[], current: string): readonly Reading[] {
  return values.map((state) => ({ value: state === current ? 1 : 0, attributes: { state } }));
}

/** One reading for each reason and status. */
export function readingsOfRefusals(
  refused: Readonly<Record<429 | 503, Readonly<Record<string, number>>>>,
): readonly Reading[] {
  return ([429, 503] as const).flatMap((status) =>
    Object.entries(refused[status]).map(([reason, value]) => ({
      value,
      attributes: { reason, status: String(status) },
    })),
  );
}
