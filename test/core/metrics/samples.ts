import type { Attributes, HistogramSample, MetricsReader, Sample } from '@webhook-backpressure/observe';

/** The samples of the metric with this name. */
export function samplesOf(reader: MetricsReader, name: string): readonly Sample[] {
  const found = [...reader.read()].find(([metric]) => metric.name === name);
  if (found === undefined) throw new Error(`There is no metric ${name}.`);
  return found[1];
}

/** The values of a gauge or counter, by attributes: `{"state":"accepting"}` or, without any, `{}`. */
export function valuesOf(reader: MetricsReader, name: string): Record<string, number> {
  const values = samplesOf(reader, name).map((sample) => [textOf(sample.attributes), valueOf(sample)]);
  return Object.fromEntries(values) as Record<string, number>;
}

/** The sum of the values of a gauge or counter. */
export function sumOf(reader: MetricsReader, name: string): number {
  return samplesOf(reader, name).reduce((sum, sample) => sum + valueOf(sample), 0);
}

/** The samples of a histogram. */
export function histogramsOf(reader: MetricsReader, name: string): readonly HistogramSample[] {
  return samplesOf(reader, name).map((sample) => {
    if (!('counts' in sample)) throw new Error(`${name} is not a histogram.`);
    return sample;
  });
}

function textOf(attributes: Attributes): string {
  return JSON.stringify(attributes);
}

function valueOf(sample: Sample): number {
  if (!('value' in sample)) throw new Error('It is a histogram.');
  return sample.value;
}
