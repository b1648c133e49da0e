import {
  context,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { Intake, IntakeEvent } from '@webhook-backpressure/core';
import type { Failures } from './failures.ts';

/** What spans say about an intake and its deliveries. */
export interface WaitSpanSettings {
  readonly name: string | undefined;
  /** Whether spans have the key of the delivery. */
  readonly hasKeys: boolean;
}

type Queued = IntakeEvent & { type: 'queued' };

/**
 * Makes a span `webhook.wait` of the time that each delivery is queued, under the span that is active in its request. A
 * delivery that starts immediately has none, nor has one whose request has no span: there is no trace to explain. There
 * are never more open spans than queued deliveries.
 *
 * @returns a function that ends all spans, and makes no more.
 */
export function traceWaits(
  intake: Intake,
  tracer: Tracer,
  failures: Failures,
  settings: WaitSpanSettings,
): () => void {
  // In a dry run no delivery waits.
  if (intake.dryRun) return () => undefined;
  const open = new Map<number, Span>();

  const start = (event: Queued): void => {
    const parent = context.active();
    if (trace.getSpan(parent) === undefined) return;
    const options = { kind: SpanKind.INTERNAL, attributes: attributesOf(event, settings) };
    const span = tracer.startSpan('webhook.wait', options, parent);
    if (span.isRecording()) open.set(event.sequence, span);
  };
  const end = (sequence: number, outcome: string, isRefused: boolean): void => {
    const span = open.get(sequence);
    if (span === undefined) return;
    open.delete(sequence);
    span.setAttribute('webhook.outcome', outcome);
    if (isRefused) span.setStatus({ code: SpanStatusCode.ERROR, message: `refused: ${outcome}` });
    span.end();
  };
  const listen = (event: IntakeEvent): void => {
    if (event.type === 'queued') start(event);
    else if (event.type === 'started') end(event.sequence, 'started', false);
    // The sender of an abandoned delivery has gone, and gets no answer.
    else if (event.type === 'withdrawn') end(event.sequence, event.cause, event.cause !== 'abandoned');
  };

  const unsubscribe = intake.subscribe(
    (event) => {
      try {
        listen(event);
      } catch (error) {
        failures.report('a tracer or span', error);
      }
    },
    // Only in the context of the request is its span the active one.
    { inRequestContext: true },
  );
  return () => {
    unsubscribe();
    for (const span of open.values()) {
      failures.run('ending a span', () => {
        span.end();
      });
    }
    open.clear();
  };
}

function attributesOf({ key, sender }: Queued, { name, hasKeys }: WaitSpanSettings): Attributes {
  return {
    ...(name === undefined ? {} : { 'webhook.intake.name': name }),
    ...(hasKeys ? { 'webhook.key': key } : {}),
    ...(sender === undefined ? {} : { 'webhook.sender': sender }),
  };
}
