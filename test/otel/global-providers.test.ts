import { metrics, trace } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { instrument } from '@webhook-backpressure/otel';
import { afterAll, expect, it } from 'vitest';
import { VERSION } from '../../packages/otel/src/version.ts';
import { createBench, letIn, occupy } from '../core/harness.ts';
import { ManualReader } from './collected.ts';
import { followContexts, underSpan } from './traced.ts';

afterAll(() => {
  metrics.disable();
  trace.disable();
});

it('uses the global providers, under its own name and version', async () => {
  const reader = new ManualReader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  followContexts();

  const { intake } = createBench({ concurrency: 1 });
  instrument(intake);
  occupy(intake);
  underSpan(provider.getTracer('app'), 'request', () => letIn(intake.admit())).result.leave();

  const own = { name: '@webhook-backpressure/otel', version: VERSION };
  const { resourceMetrics } = await reader.collect();
  expect(resourceMetrics.scopeMetrics.map(({ scope }) => scope)).toEqual([expect.objectContaining(own)]);
  const [wait] = exporter.getFinishedSpans();
  expect(wait?.name).toBe('webhook.wait');
  expect(wait?.instrumentationScope).toMatchObject(own);
});
