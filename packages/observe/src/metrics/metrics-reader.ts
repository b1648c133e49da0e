import { measuring } from '@webhook-backpressure/core/extend';
import { Distribution } from './distribution.ts';
import type { CountsByKey } from './key-totals.ts';
import type { Attributes, Metric, Sample } from './metric.ts';
import { NamedKeys, type Named } from './named-keys.ts';
import type { CounterRow, GaugeRow, HistogramRow, Readable, Reading, Row } from './rows.ts';

/** Receives each value of a histogram. What it throws is ignored. */
export type RecordListener = (metric: Metric, value: number, attributes: Attributes) => void;

/** The source of the metrics. */
interface Source<R extends Readable> {
  snapshot(): R['snapshot'];
  subscribe(listener: (event: R['event']) => unknown): () => void;
}

/** What is kept for each key, and for all that is not kept by key. */
interface Kept<R extends Readable> {
  readonly totals: R['keyTotals'];
  readonly distributions: Map<HistogramRow<R>, Distribution>;
}

/** Reads the metrics of a source from one snapshot, and its histograms from its events. */
export class SourceMetrics<R extends Readable> {
  readonly metrics: readonly Metric[];
  readonly #rows: readonly Row<R>[];
  readonly #source: Source<R>;
  readonly #base: Attributes;
  readonly #isByKey: boolean;
  readonly #counts: CountsByKey<R>;
  readonly #kept: NamedKeys<Kept<R>>;
  readonly #histograms = new Map<R['event']['type'], HistogramRow<R>[]>();
  readonly #listeners = new Set<{ readonly call: RecordListener }>();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  constructor(
    rows: readonly Row<R>[],
    source: Source<R>,
    counts: CountsByKey<R>,
    { keys, base }: { readonly keys: number; readonly base: Attributes },
  ) {
    this.metrics = rows;
    this.#rows = rows;
    this.#source = source;
    this.#counts = counts;
    this.#base = base;
    this.#isByKey = keys > 0;
    this.#kept = new NamedKeys(keys, base, counts.labels, () => ({
      totals: counts.create(),
      distributions: new Map(),
    }));
    for (const row of rows) {
      if (row.kind !== 'histogram') continue;
      for (const type of row.on) this.#histograms.set(type, [...(this.#histograms.get(type) ?? []), row]);
    }
    this.#unsubscribe = source.subscribe(measuring(this.#listen));
  }

  read(): ReadonlyMap<Metric, readonly Sample[]> {
    if (this.#isClosed) return new Map();
    const snapshot = this.#source.snapshot();
    return new Map(this.#rows.map((row) => [row, this.#samplesOf(row, snapshot)]));
  }

  onRecord(listener: RecordListener): () => void {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#unsubscribe();
  }

  readonly #listen = (event: R['event']): void => {
    const histograms = this.#histograms.get(event.type);
    const isCounted = this.#isByKey && this.#counts.events.has(event.type);
    if (histograms === undefined && !isCounted) return;
    const kept = this.#keptFor(event, isCounted);
    if (isCounted) this.#counts.add(event, kept.value.totals);
    for (const row of histograms ?? []) {
      const value = row.valueOf(event);
      if (value === undefined) continue;
      distributionOf(row, kept.value).add(value);
      this.#report(row, value, row.isByKey ? kept.attributes : this.#base);
    }
  };

  #keptFor(event: R['event'], isCounted: boolean): Named<Kept<R>> {
    if (!isCounted) return this.#kept.other;
    const { key: named, sender, endpoint } = event as Readonly<Record<string, string | undefined>>;
    const key = named ?? endpoint;
    return key === undefined ? this.#kept.other : this.#kept.of(key, sender);
  }

  #report(metric: Metric, value: number, attributes: Attributes): void {
    for (const { call } of this.#listeners) {
      try {
        call(metric, value, attributes);
      } catch {
        // It must harm neither the delivery nor other listeners.
      }
    }
  }

  #samplesOf(row: Row<R>, snapshot: R['snapshot']): readonly Sample[] {
    switch (row.kind) {
      case 'gauge':
        return [
          ...row.read(snapshot).map((reading) => sampleOf(reading, this.#base)),
          ...this.#gaugedByKey(row, snapshot),
        ];
      case 'counter':
        return this.#counted(row, snapshot.totals);
      case 'histogram':
        return this.#distributed(row);
    }
  }

  /** Keys that are not named have no sample: gauges of several keys cannot always be added up. */
  #gaugedByKey({ readKeys }: GaugeRow<R>, snapshot: R['snapshot']): readonly Sample[] {
    if (readKeys === undefined || !this.#isByKey) return [];
    const values = readKeys(snapshot);
    return this.#kept.named.flatMap(({ key, attributes }) => {
      const value = values.get(key);
      return value === undefined ? [] : [{ attributes, value }];
    });
  }

  #counted(row: CounterRow<R>, totals: R['snapshot']['totals']): readonly Sample[] {
    const all = row.read(totals);
    const { readKey } = row;
    if (readKey === undefined || !this.#isByKey) return all.map((reading) => sampleOf(reading, this.#base));
    const rest = all.map(({ value }) => value);
    const samples: Sample[] = [];
    for (const { attributes, value: kept } of this.#kept.named) {
      for (const [at, reading] of readKey(kept.totals).entries()) {
        rest[at] = (rest[at] as number) - reading.value;
        samples.push(sampleOf(reading, attributes));
      }
    }
    const { attributes } = this.#kept.other;
    return [...samples, ...all.map((one, at) => sampleOf({ ...one, value: rest[at] as number }, attributes))];
  }

  #distributed(row: HistogramRow<R>): readonly Sample[] {
    const { named, other } = this.#kept;
    if (!row.isByKey) return [distributionOf(row, other.value).read(this.#base)];
    return [...named, other].flatMap(({ attributes, value }) =>
      value === other.value || value.distributions.has(row)
        ? [distributionOf(row, value).read(attributes)]
        : [],
    );
  }
}

function distributionOf<R extends Readable>(row: HistogramRow<R>, { distributions }: Kept<R>): Distribution {
  let distribution = distributions.get(row);
  if (distribution === undefined) distributions.set(row, (distribution = new Distribution(row.buckets)));
  return distribution;
}

function sampleOf({ value, attributes }: Reading, base: Attributes): Sample {
  return { attributes: attributes === undefined ? base : { ...base, ...attributes }, value };
}
