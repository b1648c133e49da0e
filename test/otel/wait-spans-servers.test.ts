import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { createIntake, type Intake, type IntakeEvent } from '@webhook-backpressure/core';
import { instrument } from '@webhook-backpressure/otel';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { head, post, Wire } from '../servers/wire.ts';
import { frameworks, traced } from './traced-servers.ts';
import { followContexts, recordTraces, type Traces } from './traced.ts';

interface Served extends Traces {
  readonly intake: Intake;
  readonly port: number;
  /** Lets the handler of this delivery end. */
  finish(id: string): void;
  /** Waits until the intake has reported this event this many times. */
  reported(type: IntakeEvent['type'], times: number): Promise<void>;
}

interface PromiseWithEnd {
  readonly promise: Promise<void>;
  readonly end: () => void;
}

function promiseWithEnd(): PromiseWithEnd {
  let end: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end };
}

const closing: (() => void)[] = [];

beforeAll(followContexts);
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(name: string): Promise<Served> {
  const traces = recordTraces();
  const intake = createIntake({ concurrency: 1 });
  const events = new Map<string, number>();
  let changed: () => void = () => undefined;
  closing.push(
    intake.subscribe(({ type }) => {
      events.set(type, (events.get(type) ?? 0) + 1);
      changed();
    }),
    instrument(intake, { tracer: traces.tracer, name: 'orders' }),
  );
  const ends = new Map<string, PromiseWithEnd>();
  const endOf = (id: string): PromiseWithEnd => {
    const end = ends.get(id) ?? promiseWithEnd();
    ends.set(id, end);
    return end;
  };
  const listener = frameworks[name]?.(intake, (id) => {
    traces.tracer.startSpan(`work ${id}`).end();
    return endOf(id).promise;
  });
  if (listener === undefined) throw new Error(`There is no ${name}.`);
  const server = traced(traces.tracer, listener).listen(0);
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    ...traces,
    intake,
    port: (server.address() as AddressInfo).port,
    finish: (id) => {
      endOf(id).end();
    },
    reported: async (type, times) => {
      while ((events.get(type) ?? 0) < times) await new Promise<void>((resolve) => (changed = resolve));
    },
  };
}

function wireTo(port: number): Wire {
  const wire = new Wire(port);
  closing.push(() => {
    wire.close();
  });
  return wire;
}

const id = (value: string): string => `webhook-id: ${value}`;

/** The second delivery waited, and its trace shows where: under its own request, beside its own work. */
function expectTraceOf(served: Served, which: string): void {
  const [request] = served.named(`request ${which}`);
  const [wait] = served.named('webhook.wait');
  const [work] = served.named(`work ${which}`);
  const traceId = request?.spanContext().traceId;
  expect(traceId).toBeDefined();
  for (const span of [wait, work]) {
    expect(span?.spanContext().traceId).toBe(traceId);
    expect(span?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  }
  expect(wait?.kind).toBe(SpanKind.INTERNAL);
  expect(wait?.status.code).toBe(SpanStatusCode.UNSET);
  expect(wait?.attributes).toEqual({ 'webhook.intake.name': 'orders', 'webhook.outcome': 'started' });
  expect(served.named('webhook.wait')).toHaveLength(1);
}

describe.each(Object.keys(frameworks))('webhook.wait on %s', (name) => {
  it('is under the span of the request that waits, as is the work of its handler', async () => {
    const served = await serve(name);
    const first = wireTo(served.port);
    first.write(post('{}', id('a')));
    await served.reported('started', 1);
    const second = wireTo(served.port);
    second.write(post('{}', id('b')));
    await served.reported('queued', 1);
    served.finish('a');
    await served.reported('started', 2);
    served.finish('b');
    await second.until('HTTP/1.1 20');
    second.close();
    await served.reported('completed', 2);
    expectTraceOf(served, 'b');
  });

  it('is under the request whose body arrives late', async () => {
    const served = await serve(name);
    const second = wireTo(served.port);
    second.write(head('Content-Length: 10', id('b')));
    const first = wireTo(served.port);
    first.write(post('{}', id('a')));
    await served.reported('started', 1);
    second.write('0123456789');
    await served.reported('queued', 1);
    served.finish('a');
    await served.reported('started', 2);
    served.finish('b');
    await second.until('HTTP/1.1 20');
    await served.reported('completed', 2);
    expectTraceOf(served, 'b');
  });

  it('is under the pipelined request whose turn comes when another is answered', async () => {
    const served = await serve(name);
    const wire = wireTo(served.port);
    wire.write(post('{}', id('a')) + post('{}', id('b')));
    await served.reported('started', 1);
    const other = wireTo(served.port);
    other.write(post('{}', id('c')));
    await served.reported('queued', 1);
    served.finish('a');
    await served.reported('started', 2);
    await served.reported('queued', 2);
    served.finish('c');
    await served.reported('started', 3);
    served.finish('b');
    await wire.until('HTTP/1.1 20', 2);
    await served.reported('completed', 3);
    for (const which of ['b', 'c']) {
      const [request] = served.named(`request ${which}`);
      const waits = served.named('webhook.wait');
      const own = waits.filter((wait) => wait.parentSpanContext?.spanId === request?.spanContext().spanId);
      expect(own, which).toHaveLength(1);
    }
  });
});
