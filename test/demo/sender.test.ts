import { describe, expect, it } from 'vitest';
import type { EndpointFigures, TargetKind } from '../../demo/src/sender-messages.ts';
import { brokenSenderPromises, senderSummary, senderTable } from '../../demo/src/sender-report.ts';
import { eventsOf, type SenderResult } from '../../demo/src/sender-run.ts';

function endpoint(kind: TargetKind, events: number, delivered: number): EndpointFigures {
  return {
    kind,
    events,
    delivered,
    state: 'idle',
    attempts: delivered,
    limited: 0,
    failed: 0,
    latencyMs: { p50: 1200, p99: 3400 },
    seconds: delivered === events ? 20 : null,
  };
}

function result(stored: Partial<Record<TargetKind, number>> = {}, depth = 10): SenderResult {
  const figures = (count: number) => ({ stored: count, repeated: 0, requests: count });
  return {
    outbox: {
      endpoints: [endpoint('fast', 1000, 1000), endpoint('limited', 100, 100), endpoint('hanging', 10, 0)],
      stored: depth,
      sentSeconds: 1,
    },
    targets: {
      fast: figures(stored.fast ?? 1000),
      limited: figures(stored.limited ?? 100),
      hanging: figures(0),
    },
  };
}

describe('the import', () => {
  it.each([3, 100, 50_000])('of %i events has some for each endpoint', (total) => {
    const { fast, limited, hanging } = eventsOf(total);
    expect(fast + limited + hanging).toBe(total);
    expect(Math.min(fast, limited, hanging)).toBeGreaterThan(0);
  });
});

describe('the report of the sender', () => {
  it('has a column for each endpoint', () => {
    const lines = senderTable(result())
      .split('\n')
      .map((line) => line.trim().split(/ {3,}/));
    expect(lines[0]).toEqual(['fast', 'limited', 'hanging']);
    expect(lines).toContainEqual(['still in the outbox', '0', '0', '10']);
    expect(lines).toContainEqual(['delivered per second', '50', '5', '–']);
  });

  it('finds nothing wrong with a run without losses', () => {
    expect(brokenSenderPromises(result())).toEqual([]);
  });

  it('ends with a summary', () => {
    expect(senderSummary(result()).split('\n')).toEqual([
      '1,100 of 1,110 events were delivered in 20.0 s, with 1.00 requests for each.',
      'Refused requests: 0. Events that arrived twice: 0. Lost events: 0.',
      'The outbox keeps the other 10, for the receiver that never answers.',
    ]);
  });

  it('names events that did not arrive, and those that are neither delivered nor stored', () => {
    expect(brokenSenderPromises(result({ limited: 98 }, 7))).toEqual([
      '2 events did not arrive at the limited endpoint.',
      '3 events are neither delivered nor stored.',
    ]);
  });
});
