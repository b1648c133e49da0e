import { describe, expect, it } from 'vitest';
import { loggedSource, type Line } from './recording-logger.ts';

const ATTEMPT = { endpoint: 'ep_1', id: 'msg_1', attempt: 1, events: 1 } as const;

function messages(lines: readonly Line[]): string[] {
  return lines.map(({ level, message }) => `${level}: ${message}`);
}

describe('the log of a sender', () => {
  it('has a line for each change of state, with the endpoint as a field', () => {
    const { report, lines } = loggedSource('sender', { name: 'hooks' });
    report({ type: 'full', depth: 100, bytes: 5000 });
    report({ type: 'disabled', endpoint: 'ep_1', reason: 'gone' });
    report({ type: 'paused', endpoint: 'ep_1' });
    report({ type: 'endpoint-failed', endpoint: 'ep_2', error: 'secret', isKept: true });
    report({ type: 'buckets-lost', error: 'secret', processes: 4 });
    expect(messages(lines)).toEqual([
      'warn: The outbox is full, with 100 events. Calls of send wait or are refused.',
      'error: An endpoint was disabled: it answered 410. Its events are dead letters until it is resumed.',
      'info: Attempts at an endpoint are paused.',
      'error: The function endpoint failed. The last settings stay in use.',
      'error: The shared buckets do not answer. Each process uses its part of the rates. Processes: 4.',
    ]);
    expect(lines[1]?.fields).toEqual({
      event: 'disabled',
      sender: 'hooks',
      endpoint: 'ep_1',
      reason: 'gone',
    });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('adds up attempts once a second, by status, and names the first endpoints', () => {
    const { report, lines, clock } = loggedSource('sender');
    for (let count = 0; count < 30; count += 1) {
      report({ type: 'limited', ...ATTEMPT, status: 429, tookMs: 5, retryInMs: 1000 + count });
    }
    report({ type: 'limited', ...ATTEMPT, endpoint: 'ep_2', status: 503, tookMs: 5, retryInMs: 10 });
    report({
      type: 'failed',
      ...ATTEMPT,
      status: undefined,
      error: 'timeout',
      tookMs: 5,
      retryInMs: 10,
      isCounted: true,
    });
    expect(lines).toEqual([]);
    clock.advance(1000);
    expect(messages(lines)).toEqual([
      'warn: Attempts after which the endpoint asked to wait in 1 s: 31 (30 429, 1 503).',
      'warn: Failed attempts that will be retried in 1 s: 1 (1 none).',
    ]);
    expect(lines[0]?.fields).toMatchObject({
      count: 31,
      status: { 429: 30, 503: 1 },
      maxRetryInMs: 1029,
      keys: [
        { key: 'ep_1', count: 30 },
        { key: 'ep_2', count: 1 },
      ],
    });
  });

  it('says of a thousand endpoints that fail together two lines a second', () => {
    const { report, lines, clock } = loggedSource('sender');
    for (let id = 0; id < 1000; id += 1) {
      report({ type: 'failing', endpoint: `ep_${String(id)}`, error: 'refused', retryInMs: 1000 });
    }
    clock.advance(1000);
    expect(lines).toHaveLength(2);
    expect(lines[1]?.fields).toMatchObject({ endpoint: 'ep_999', repeated: 999 });
  });

  it('writes nothing about successes', () => {
    const { report, lines, end } = loggedSource('sender');
    report({ type: 'accepted', endpoint: 'ep_1', id: 'msg_1' });
    report({ type: 'started', ...ATTEMPT, waitedMs: 1 });
    report({ type: 'delivered', ...ATTEMPT, status: 200, tookMs: 5, latencyMs: 6 });
    end();
    expect(lines).toEqual([]);
  });
});
