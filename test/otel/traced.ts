import { context, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';

/** The real SDK, which keeps ended spans in memory. */
export interface Traces {
  readonly tracer: Tracer;
  /** The ended spans of this name, in the order of their ends. */
  readonly named: (name: string) => ReadableSpan[];
}

export function recordTraces(sampler?: Sampler): Traces {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler === undefined ? {} : { sampler }),
  });
  return {
    tracer: provider.getTracer('tests'),
    named: (name) => exporter.getFinishedSpans().filter((span) => span.name === name),
  };
}

/** As the SDK for Node does. Only once in a process. */
export function followContexts(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** Runs an action under a new span, as the instrumentation of a server does for a request. */
export function underSpan<T>(tracer: Tracer, name: string, action: () => T): { result: T; end: () => void } {
  const span = tracer.startSpan(name);
  const result = context.with(trace.setSpan(context.active(), span), action);
  return {
    result,
    end: () => {
      span.end();
    },
  };
}
