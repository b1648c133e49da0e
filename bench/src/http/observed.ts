import type { Intake } from '@webhook-backpressure/core';
import { dashboard } from '@webhook-backpressure/dashboard';
import { instrument } from '@webhook-backpressure/otel';
import { collect } from '@webhook-backpressure/prometheus';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';

/** More often than in production, where it is 15 to 60 s, so that each turn of the load has its share. */
const EVERY_MS = 1000;

/**
 * Switches on everything that shows an intake: metrics for OpenTelemetry and Prometheus, with the options that the
 * documentation begins with, and one open page, which measures the windows and alarms.
 */
export async function observe(intake: Intake): Promise<void> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: EVERY_MS,
    exportTimeoutMillis: EVERY_MS,
  });
  instrument(intake, { meter: new MeterProvider({ readers: [reader] }).getMeter('bench') });

  const register = new Registry();
  collect(intake, { register });
  setInterval(() => {
    exporter.reset();
    void register.metrics();
  }, EVERY_MS);

  const page = dashboard({ intakes: { webhooks: intake }, authorize: false });
  const { body } = await page.fetch(new Request('http://localhost/events'));
  if (body === null) throw new Error('The page sends no events.');
  void body.pipeTo(new WritableStream());
}
