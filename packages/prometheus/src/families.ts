import type { Metric as RegisteredMetric, Registry, RegistryContentType } from 'prom-client';
import { BackpressureError, inBackground } from '@webhook-backpressure/base';
import type { Metric, MetricsReader, Sample } from '@webhook-backpressure/observe';
import { Family } from './family.ts';

type Register = Registry<RegistryContentType>;
type SamplesByName = ReadonlyMap<string, readonly Sample[]>;

/** In a process that imports this package and requires it, two copies of it share what is in a register. */
const FAMILIES = Symbol.for('@webhook-backpressure/prometheus.families');

/** The metrics of all sources of one kind in one register. */
class Families {
  readonly #register: Register;
  readonly #families: readonly Family[];
  readonly #readers = new Map<string | undefined, MetricsReader>();
  /** The samples of the current scrape, and the metrics that have been read from them. */
  #scrape: { readonly samples: SamplesByName; readonly read: Set<string> } | undefined;

  constructor(register: Register, metrics: readonly Metric[]) {
    this.#register = register;
    this.#families = metrics.map(
      (metric) => new Family(metric, () => this.#samplesOf(metric.prometheusName)),
    );
  }

  /** @returns a function that removes the reader, and closes it. */
  add(name: string | undefined, reader: MetricsReader): () => void {
    if (this.#readers.has(name)) throw nameError(name);
    if (this.#readers.size === 0) this.#registerAll();
    this.#readers.set(name, reader);
    return () => {
      if (this.#readers.get(name) !== reader) return;
      this.#readers.delete(name);
      reader.close();
      if (this.#readers.size === 0) this.#removeAll();
    };
  }

  #registerAll(): void {
    const taken = this.#families.find(({ id }) => this.#register.getSingleMetric(id) !== undefined);
    if (taken !== undefined) throw takenError(taken.id);
    for (const family of this.#families) {
      this.#register.registerMetric(
        Object.assign(family, { [FAMILIES]: this }) as unknown as RegisteredMetric,
      );
    }
  }

  #removeAll(): void {
    for (const family of this.#families) {
      // The register may have been cleared, and the name used for another metric.
      if (isSame(this.#register.getSingleMetric(family.id), family)) {
        this.#register.removeSingleMetric(family.id);
      }
    }
  }

  /**
   * A register asks all its metrics for their values before it waits for the first, so what is asked in the same turn
   * belongs to one scrape. A metric that is asked again belongs to the next.
   */
  #samplesOf(name: string): readonly Sample[] {
    if (this.#scrape === undefined || this.#scrape.read.has(name)) {
      this.#scrape = { samples: this.#read(), read: new Set() };
      inBackground(
        Promise.resolve().then(() => {
          this.#scrape = undefined;
        }),
      );
    }
    this.#scrape.read.add(name);
    return this.#scrape.samples.get(name) ?? [];
  }

  #read(): SamplesByName {
    const byName = new Map<string, Sample[]>();
    for (const reader of this.#readers.values()) {
      for (const [{ prometheusName }, samples] of reader.read()) {
        byName.set(prometheusName, [...(byName.get(prometheusName) ?? []), ...samples]);
      }
    }
    return byName;
  }
}

/** The families of these metrics in a register: those that are there, or new ones. */
export function familiesIn(register: Register, metrics: readonly Metric[]): Families {
  for (const { prometheusName } of metrics) {
    const registered = register.getSingleMetric(prometheusName) as { [FAMILIES]?: Families } | undefined;
    if (registered?.[FAMILIES] !== undefined) return registered[FAMILIES];
  }
  return new Families(register, metrics);
}

function isSame(registered: unknown, family: Family): boolean {
  return registered === family;
}

function nameError(name: string | undefined): BackpressureError {
  const which = name === undefined ? 'without a name' : `with the name ${JSON.stringify(name)}`;
  return new BackpressureError(
    'ERR_WBP_METRICS_NAME',
    `The register already has metrics of a source ${which}. Pass a different name for each: collect(source, { name }).`,
  );
}

function takenError(metric: string): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_METRICS_REGISTER',
    `register already has a metric ${metric} that is not from this package.`,
  );
}
