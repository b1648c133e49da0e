import { eventTypeOf } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';

function typeOf(body: string, headers: Record<string, string> = {}): string | undefined {
  return eventTypeOf({ headers, json: () => JSON.parse(body) as unknown });
}

describe('the type of an event', () => {
  it.each([
    ['x-github-event', 'pull_request'],
    ['x-gitea-event', 'push'],
    ['x-gitlab-event', 'Push Hook'],
    ['x-shopify-topic', 'orders/create'],
    ['x-event-key', 'repo:push'],
    ['x-wc-webhook-topic', 'order.created'],
    ['sentry-hook-resource', 'issue'],
    ['ce-type', 'com.example.created'],
  ])('is that of the header %s, before that of the body', (header, type) => {
    expect(typeOf('{"type":"other"}', { [header]: type })).toBe(type);
  });

  it('is the first field of the body that is a string', () => {
    expect(typeOf('{"topic":"e","event":"d","eventType":"c","event_type":"b","type":"a"}')).toBe('a');
    expect(typeOf('{"topic":"e","event":"d","eventType":"c","event_type":"b"}')).toBe('b');
    expect(typeOf('{"topic":"e","event":"d","eventType":"c"}')).toBe('c');
    expect(typeOf('{"topic":"e","event":{"type":"d"},"type":1}')).toBe('e');
    expect(typeOf('{"type":"","event":"d"}', { 'x-github-event': '' })).toBe('d');
  });

  it.each(['', 'a=1', 'null', '7', '[{"type":"a"}]', '{"type":null}', '{}'])(
    'is undefined for the body %j',
    (body) => {
      expect(typeOf(body)).toBeUndefined();
    },
  );
});
