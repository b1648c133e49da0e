/** The attributes of a sample, such as `{ reason: 'shedding', status: '503' }`. In Prometheus they are labels. */
export type Attributes = Readonly<Record<string, string>>;

/** One metric of an intake, an inbox or a sender, as every exporter describes it. */
export interface Metric {
  /** The name in OpenTelemetry, such as `webhook.intake.depth`. */
  readonly name: string;
  /** The name in Prometheus, such as `webhook_intake_queue_depth`. */
  readonly prometheusName: string;
  /**
   * - `gauge`: the value at the time of the reading
   * - `counter`: a total since the source was created, which only grows
   * - `histogram`: values since the reader was created, counted in `buckets`
   */
  readonly kind: 'gauge' | 'counter' | 'histogram';
  /** The unit in the notation of UCUM: `s`, `By`, or a noun in braces such as `{delivery}` or `{delivery}/s`. */
  readonly unit: string;
  /** One sentence without its full stop. */
  readonly description: string;
  /** The names of the attributes that distinguish its samples. Beside them every sample can carry `name`. */
  readonly attributes: readonly string[];
  /**
   * Whether its samples also carry `key` and `sender`, or those of a sender `endpoint`, when the reader was created with `keys`
   * above 0.
   */
  readonly isByKey: boolean;
  /** The inclusive upper bounds of the buckets of a histogram, ascending, in `unit`. The last bucket, above them, has none. */
  readonly buckets?: readonly number[];
}

/** The value of a gauge or a counter. */
export interface ValueSample {
  /** What distinguishes this sample from others of the metric. */
  readonly attributes: Attributes;
  /** In the unit of the metric. */
  readonly value: number;
}

/** The values of a histogram. */
export interface HistogramSample {
  /** What distinguishes this sample from others of the metric. */
  readonly attributes: Attributes;
  /** How many values are in each bucket, not cumulative. The last number counts those above all bounds. */
  readonly counts: readonly number[];
  /** The sum of the values, in the unit of the metric. */
  readonly sum: number;
  /** The number of values. */
  readonly count: number;
}

/** What a metric has measured, for one combination of attributes. */
export type Sample = ValueSample | HistogramSample;
