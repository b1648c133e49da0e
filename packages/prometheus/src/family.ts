import type { Aggregator } from 'prom-client';
import type { Metric, Sample } from '@webhook-backpressure/observe';

/** A value as prom-client prints it. */
interface Value {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Instead of the name of the metric. */
  readonly metricName?: string;
}

interface Values {
  readonly name: string;
  readonly help: string;
  readonly type: Metric['kind'];
  readonly aggregator: Aggregator;
  readonly values: readonly Value[];
}

/** A metric in a register of prom-client that reads its values when it is asked for them. */
export class Family {
  /** Its name in the register. */
  readonly id: string;
  /** Its name in the output, which the register shortens for OpenMetrics. */
  name: string;
  readonly help: string;
  readonly type: Metric['kind'];
  readonly aggregator: Aggregator;
  readonly #metric: Metric;
  readonly #samples: () => readonly Sample[];

  constructor(metric: Metric, samples: () => readonly Sample[]) {
    this.id = this.name = metric.prometheusName;
    this.help = `${metric.description}.`;
    this.type = metric.kind;
    this.aggregator = aggregatorOf(metric);
    this.#metric = metric;
    this.#samples = samples;
  }

  get(): Promise<Values> {
    const { name, help, type, aggregator } = this;
    // The register does not undo it, and the next scrape may ask for the format of Prometheus.
    this.name = this.id;
    const values = this.#samples().flatMap((sample) => this.#valuesOf(sample));
    return Promise.resolve({ name, help, type, aggregator, values });
  }

  /** Does nothing: the values belong to the source. A register calls this for all its metrics. */
  reset(): void {
    return;
  }

  #valuesOf(sample: Sample): Value[] {
    const { attributes: labels } = sample;
    if ('value' in sample) return [{ labels, value: sample.value }];
    const { buckets = [] } = this.#metric;
    const bounds = [...buckets, '+Inf'];
    let below = 0;
    return [
      ...sample.counts.map((count, at) => {
        below += count;
        return { metricName: `${this.id}_bucket`, labels: { ...labels, le: bounds[at] ?? '' }, value: below };
      }),
      { metricName: `${this.id}_sum`, labels, value: sample.sum },
      { metricName: `${this.id}_count`, labels, value: sample.count },
    ];
  }
}

/** Gauges of an inbox or a sender that are about one process. Their others are about a store, which processes can share. */
const OF_PROCESS = new Set([
  'webhook.inbox.active',
  'webhook.inbox.concurrency',
  'webhook.outbox.waiting_sends',
  'webhook.outbox.in_flight',
  'webhook.outbox.endpoint.in_flight',
]);

/** How prom-client adds up the values of the processes of a cluster. */
function aggregatorOf({ name, kind }: Metric): Aggregator {
  if (kind !== 'gauge' || OF_PROCESS.has(name)) return 'sum';
  const isOfStore = /^webhook\.(inbox|outbox)\./.test(name);
  return isOfStore || name === 'webhook.intake.oldest_wait' ? 'max' : 'sum';
}
