import { SpanStatusCode, trace, type Context, type SpanOptions, type Tracer } from '@opentelemetry/api';
import { AlwaysOffSampler, ParentBasedSampler } from '@opentelemetry/sdk-trace-base';
import type { Intake, IntakeOptions } from '@webhook-backpressure/core';
import { instrument, type InstrumentOptions } from '@webhook-backpressure/otel';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createBench, letIn, occupy, type Bench } from '../core/harness.ts';
import { followContexts, recordTraces, underSpan, type Traces } from './traced.ts';

beforeAll(followContexts);

interface TracedBench extends Bench, Traces {
  readonly stop: () => void;
}

/** An intake whose workers are busy. */
function tracedBench(
  options: IntakeOptions = {},
  instrumentation: InstrumentOptions = {},
  traces: Traces = recordTraces(),
): TracedBench {
  const bench = createBench({ concurrency: 1, ...options });
  const stop = instrument(bench.intake, { tracer: traces.tracer, ...instrumentation });
  occupy(bench.intake);
  return { ...bench, ...traces, stop };
}

/** Queues a delivery whose request has a span. */
function queue({ intake, tracer }: { intake: Intake; tracer: Tracer }, key?: string) {
  const { result, end } = underSpan(tracer, 'request', () => letIn(intake.admit({ key })));
  return { admission: result, end };
}

describe('webhook.wait', () => {
  it('lasts from the arrival in the queue to the start', async () => {
    const bench = createBench({ concurrency: 1 });
    const traces = recordTraces();
    instrument(bench.intake, { tracer: traces.tracer });
    const [permit] = occupy(bench.intake);
    const { admission } = queue({ ...bench, ...traces });
    expect(traces.named('webhook.wait')).toEqual([]);
    permit?.release();
    await admission.permit;
    expect(traces.named('webhook.wait')).toHaveLength(1);
    expect(traces.named('webhook.wait')[0]?.attributes).toEqual({ 'webhook.outcome': 'started' });
  });

  it('is an error when the delivery is refused while it waits', () => {
    const bench = tracedBench({ maxWaitMs: 1000 });
    queue(bench);
    bench.clock.advance(2000);
    const [span] = bench.named('webhook.wait');
    expect(span?.attributes['webhook.outcome']).toBe('expired');
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'refused: expired' });
  });

  it('is no error when the sender hangs up', () => {
    const bench = tracedBench();
    queue(bench).admission.leave();
    const [span] = bench.named('webhook.wait');
    expect(span?.attributes['webhook.outcome']).toBe('abandoned');
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('names the sender, and the key only on request', () => {
    const withoutKeys = tracedBench();
    const withKeys = tracedBench({}, { keys: 5, name: 'orders' });
    for (const bench of [withoutKeys, withKeys]) queue(bench, 'tenant-17').admission.leave();
    expect(withoutKeys.named('webhook.wait')[0]?.attributes).toEqual({ 'webhook.outcome': 'abandoned' });
    expect(withKeys.named('webhook.wait')[0]?.attributes).toEqual({
      'webhook.intake.name': 'orders',
      'webhook.key': 'tenant-17',
      'webhook.outcome': 'abandoned',
    });
  });

  it.each<[string, IntakeOptions, (bench: TracedBench) => void]>([
    [
      'starts immediately',
      { concurrency: 2 },
      ({ intake, tracer }) => {
        intake.update({ concurrency: 3 });
        underSpan(tracer, 'request', () => intake.admit());
      },
    ],
    [
      'has no request with a span',
      {},
      ({ intake }) => {
        letIn(intake.admit()).leave();
      },
    ],
    [
      'is queued in a dry run only as a thought',
      { dryRun: true },
      (bench) => {
        queue(bench);
        bench.clock.advance(60_000);
      },
    ],
  ])('is not made for a delivery that %s', (_, options, run) => {
    const bench = tracedBench(options);
    run(bench);
    bench.stop();
    expect(bench.named('webhook.wait')).toEqual([]);
  });

  it('follows the sampler', () => {
    const sampler = new ParentBasedSampler({ root: new AlwaysOffSampler() });
    const bench = tracedBench({}, {}, recordTraces(sampler));
    queue(bench).admission.leave();
    expect(bench.named('webhook.wait')).toEqual([]);
  });

  it('is ended when the instrumentation is removed, and made no more', () => {
    const bench = tracedBench();
    const { admission } = queue(bench);
    bench.stop();
    const [span] = bench.named('webhook.wait');
    expect(span?.attributes).toEqual({});
    admission.leave();
    queue(bench).admission.leave();
    expect(bench.named('webhook.wait')).toHaveLength(1);
  });

  it('has at most as many open spans as there are queued deliveries', () => {
    const traces = recordTraces();
    let open = 0;
    const tracer = {
      startSpan(name: string, options?: SpanOptions, parent?: Context) {
        const span = traces.tracer.startSpan(name, options, parent);
        if (name !== 'webhook.wait') return span;
        open += 1;
        const end = span.end.bind(span);
        span.end = () => {
          open -= 1;
          end();
        };
        return span;
      },
    } as unknown as Tracer;
    const bench = tracedBench({ capacity: 20 }, { tracer }, { ...traces, tracer });
    const waiting = [];
    for (let i = 0; i < 500; i += 1) {
      const { result } = underSpan(traces.tracer, 'request', () => bench.intake.admit());
      if (result.admitted) waiting.push(result);
      expect(open).toBe(bench.intake.snapshot().depth);
      if (i % 3 === 0) waiting.shift()?.leave();
      expect(open).toBe(bench.intake.snapshot().depth);
    }
    expect(open).toBeGreaterThan(0);
    // Ends those that are open, and no other a second time.
    bench.stop();
    expect(open).toBe(0);
  });

  it.each(['startSpan', 'isRecording', 'setAttribute', 'end'])(
    'affects no delivery when %s throws',
    async (method) => {
      const broken = new Proxy(trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 }), {
        get: (span, name) => {
          if (name === method) throw new Error('the exporter is broken');
          return name === 'isRecording' ? () => true : () => span;
        },
      });
      const startSpan = vi.fn(() => {
        if (method === 'startSpan') throw new Error('the tracer is broken');
        return broken;
      });
      const bench = createBench({ concurrency: 1 });
      const stop = instrument(bench.intake, { tracer: { startSpan } as unknown as Tracer });
      const [permit] = occupy(bench.intake);
      const { admission } = queue({ intake: bench.intake, tracer: recordTraces().tracer });
      permit?.release();
      expect(await admission.permit).toMatchObject({ admitted: true });
      queue({ intake: bench.intake, tracer: recordTraces().tracer });
      expect(startSpan).toHaveBeenCalledTimes(2);
      expect(stop).not.toThrow();
    },
  );
});
