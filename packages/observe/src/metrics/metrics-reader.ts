import { measuring } from '@webhook-backpressure/core/extend';
import type { Attributes, HistogramSample, Metric, Sample } from './metric.ts';
import type { Readable, Reading, Row, Table } from './rows.ts';

/** The value of `key`, `sender` and `endpoint` above the limit. */
const OTHER = 'other';
/** The value of `sender` for deliveries whose sender was not recognized. */
const UNKNOWN_SENDER = 'unknown';

/** Receives each value of a histogram. What it throws is ignored. */
export type RecordListener = (metric: Metric, value: number, attributes: Attributes) => void;

/** Reads the metrics of one source. */
export interface MetricsReader {
  /** The table of metrics: `intakeMetrics`, `inboxMetrics` or `outboxMetrics`. */
  readonly metrics: readonly Metric[];
  /**
   * The current samples of each metric, all from the same snapshot. A gauge whose value is not known has none. Also works
   * after the source has closed; after `close` of the reader there are no metrics.
   */
  read(): ReadonlyMap<Metric, readonly Sample[]>;
  /**
   * Calls the listener with each value of a histogram when it occurs, in the unit of the metric. What it throws is ignored.
   * Returns a function that ends the subscription.
   */
  onRecord(listener: RecordListener): () => void;
  /** Ends the subscription to the source. */
  close(): void;
}

/** The source of the metrics. */
interface Source<R extends Readable> {
  snapshot(): R['snapshot'];
  subscribe(listener: (event: R['event']) => unknown): () => void;
}

/** How many values are in each bucket of a histogram, and their sum. */
interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** What is kept for one combination of key and sender, or for all that have no place of their own. */
interface Kept<R extends Readable> {
  readonly key: string;
  readonly attributes: Attributes;
  readonly totals: R['keyTotals'];
  readonly distributions: Map<Row<R>, Distribution>;
}

/** Reads the metrics of a source from one snapshot, and its histograms from its events. */
export class SourceMetrics<R extends Readable> implements MetricsReader {
  readonly metrics: readonly Metric[];
  readonly #source: Source<R>;
  readonly #table: Table<R>;
  readonly #base: Attributes;
  readonly #keys: number;
  /**
   * For the first combinations of key and sender, in the order of their arrival. Keys can come from requests, so their
   * number is bounded, and a place is never given to another key.
   */
  readonly #named = new Map<string, Kept<R>>();
  readonly #other: Kept<R>;
  readonly #histograms = new Map<string, Row<R>[]>();
  readonly #listeners = new Set<{ readonly call: RecordListener }>();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  /**
   * @param keys - how many combinations of key and sender are kept apart.
   * @param base - the attributes that all samples have.
   */
  constructor(source: Source<R>, table: Table<R>, keys: number, base: Attributes) {
    this.metrics = table.rows;
    this.#source = source;
    this.#table = table;
    this.#base = base;
    this.#keys = keys;
    this.#other = this.#keep(OTHER, OTHER);
    for (const row of table.rows) {
      for (const type of row.values?.keys() ?? []) {
        this.#histograms.set(type, [...(this.#histograms.get(type) ?? []), row]);
      }
    }
    this.#unsubscribe = source.subscribe(measuring(this.#listen));
  }

  read(): ReadonlyMap<Metric, readonly Sample[]> {
    if (this.#isClosed) return new Map();
    const snapshot = this.#source.snapshot();
    return new Map(this.#table.rows.map((row) => [row, this.#samplesOf(row, snapshot)]));
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
    const count = this.#table.counts[event.type as R['event']['type']];
    if (histograms === undefined && count === undefined) return;
    const kept = this.#keptFor(event);
    count?.(kept.totals, event as never);
    for (const row of histograms ?? []) {
      const value = row.values?.get(event.type)?.(event);
      if (value === undefined) continue;
      const distribution = distributionOf(row, row.isByKey ? kept : this.#other);
      const at = (row.buckets ?? []).findIndex((bound) => value <= bound);
      const bucket = at < 0 ? distribution.counts.length - 1 : at;
      distribution.counts[bucket] = (distribution.counts[bucket] as number) + 1;
      distribution.sum += value;
      distribution.count += 1;
      this.#report(row, value, row.isByKey ? kept.attributes : this.#base);
    }
  };

  #report(metric: Metric, value: number, attributes: Attributes): void {
    for (const { call } of this.#listeners) {
      try {
        call(metric, value, attributes);
      } catch {
        // It must harm neither the delivery nor other listeners.
      }
    }
  }

  #keptFor(event: R['event']): Kept<R> {
    const { key: named, sender: given, endpoint } = event as Readonly<Record<string, string | undefined>>;
    const key = named ?? endpoint;
    if (this.#keys === 0 || key === undefined) return this.#other;
    const sender = this.#table.labels.length > 1 ? given : undefined;
    // The length tells where the sender ends, and without a sender there is none.
    const id = sender === undefined ? ` ${key}` : `${String(sender.length)} ${sender}${key}`;
    const known = this.#named.get(id);
    if (known !== undefined) return known;
    if (this.#named.size >= this.#keys || key === OTHER) return this.#other;
    const kept = this.#keep(key, sender ?? UNKNOWN_SENDER);
    this.#named.set(id, kept);
    return kept;
  }

  #keep(key: string, sender: string): Kept<R> {
    const [keyLabel, senderLabel] = this.#table.labels;
    const attributes: Record<string, string> = { ...this.#base };
    if (this.#keys > 0) attributes[keyLabel] = key;
    if (this.#keys > 0 && senderLabel !== undefined) attributes[senderLabel] = sender;
    return {
      key,
      attributes: Object.freeze(attributes),
      totals: this.#table.create(),
      distributions: new Map(),
    };
  }

  #samplesOf(row: Row<R>, snapshot: R['snapshot']): readonly Sample[] {
    if (row.kind === 'histogram') return this.#distributed(row);
    const readings = row.read(snapshot);
    if (this.#keys === 0) return readings.map((reading) => sampleOf(reading, this.#base));
    if (row.readKeys !== undefined) return this.#gaugedByKey(row.readKeys(snapshot));
    if (row.readKey !== undefined) return this.#countedByKey(row.readKey, readings);
    return readings.map((reading) => sampleOf(reading, this.#base));
  }

  /** Keys that are not named have no sample: gauges of several keys cannot always be added up. */
  #gaugedByKey(values: ReadonlyMap<string, number>): readonly Sample[] {
    return [...this.#named.values()].flatMap(({ key, attributes }) => {
      const value = values.get(key);
      return value === undefined ? [] : [{ attributes, value }];
    });
  }

  #countedByKey(
    readKey: (totals: R['keyTotals']) => readonly Reading[],
    all: readonly Reading[],
  ): readonly Sample[] {
    const rest = all.map(({ value }) => value);
    const samples: Sample[] = [];
    for (const { attributes, totals } of this.#named.values()) {
      for (const [at, reading] of readKey(totals).entries()) {
        rest[at] = (rest[at] as number) - reading.value;
        samples.push(sampleOf(reading, attributes));
      }
    }
    const { attributes } = this.#other;
    return [...samples, ...all.map((one, at) => sampleOf({ ...one, value: rest[at] as number }, attributes))];
  }

  #distributed(row: Row<R>): readonly Sample[] {
    const named = row.isByKey ? [...this.#named.values()] : [];
    const measured = named.filter(({ distributions }) => distributions.has(row));
    return [...measured, this.#other].map((kept): HistogramSample => {
      const { counts, sum, count } = distributionOf(row, kept);
      const attributes = row.isByKey ? kept.attributes : this.#base;
      return { attributes, counts: [...counts], sum, count };
    });
  }
}

function distributionOf<R extends Readable>(row: Row<R>, { distributions }: Kept<R>): Distribution {
  let distribution = distributions.get(row);
  if (distribution === undefined) {
    const counts = new Array<number>((row.buckets?.length ?? 0) + 1).fill(0);
    distributions.set(row, (distribution = { counts, sum: 0, count: 0 }));
  }
  return distribution;
}

function sampleOf({ value, attributes }: Reading, base: Attributes): Sample {
  return { attributes: attributes === undefined ? base : { ...base, ...attributes }, value };
}
