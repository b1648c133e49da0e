import { type InboxAnswer, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import type { RefusalReason } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';

type Headers = Record<string, string>;
type Cause = readonly [reason: RefusalReason, cause: (headers: Headers) => Promise<InboxAnswer | null>];

const SENDERS = ([429, 503] as const).map((status) => ({
  name: `retries after ${String(status)}`,
  match: { header: 'x-status', value: String(status) },
  status,
  source: 'https://example.org',
  verifiedAt: '2026-11-22',
}));

/** More than half of what all bodies together may take. */
const BODY = new Uint8Array(40 * 1024 * 1024);

/** All that makes an inbox refuse a delivery. */
const CAUSES: Record<string, Cause> = {
  'the high-water mark': ['shedding', (headers) => filled({ capacity: 10 }, 8, headers)],
  'the capacity': ['full', (headers) => filled({ capacity: 10, highWaterMark: 1 }, 10, headers)],
  'a store without room': [
    'full',
    (headers) => {
      const store = memoryStore();
      store.put = (batch) => batch.map(() => 'full' as const);
      return bench({ store }).deliver('a', '{}', headers);
    },
  ],
  'a failed commit': [
    'pressure',
    (headers) => {
      const store = memoryStore();
      store.put = () => Promise.reject(new Error('the disk is full'));
      return bench({ store }).deliver('a', '{}', headers);
    },
  ],
  'a store that cannot be opened': [
    'pressure',
    (headers) => {
      const store = memoryStore();
      store.open = () => Promise.reject(new Error('the connection was refused'));
      return bench({ store }).deliver('a', '{}', headers);
    },
  ],
  'the option pressure': [
    'pressure',
    (headers) => bench({ pressure: () => true }).deliver('a', '{}', headers),
  ],
  'a key server that is down': [
    'pressure',
    (headers) => {
      const verify = (): never => {
        throw Object.assign(new Error('it is down'), { status: 503 });
      };
      return bench({ verify }).deliver('a', '{}', headers);
    },
  ],
  'bodies that use up the memory': [
    'pressure',
    (headers) => {
      const one = bench({ maxBodyBytes: BODY.byteLength });
      const receive = (): Promise<InboxAnswer | null> =>
        one.inbox.receive({
          headers,
          hint: 'Do not.',
          read: (body) => (body.add(BODY) ? new Promise(() => undefined) : Promise.resolve('whole')),
        });
      void receive();
      return receive();
    },
  ],
  'a slow body': [
    'wait',
    async (headers) => {
      const one = bench();
      const read = (): Promise<never> => new Promise(() => undefined);
      const answer = one.inbox.receive({ headers, hint: 'Do not.', read });
      await one.advance(8000);
      return answer;
    },
  ],
  'the option shed': [
    'shed',
    (headers) => {
      const key = `retries after ${headers['x-status'] ?? ''}`;
      return bench({ shed: { [key]: true } }).deliver('a', '{}', headers);
    },
  ],
  'a shutdown': [
    'closing',
    async (headers) => {
      const one = bench();
      await one.inbox.close();
      return one.deliver('a', '{}', headers);
    },
  ],
};

function bench(options: Partial<InboxOptions> = {}): InboxBench {
  return new InboxBench({ senders: SENDERS, ...options });
}

async function filled(options: Partial<InboxOptions>, count: number, headers: Headers): Promise<InboxAnswer> {
  const one = bench({ concurrency: 1, ...options });
  for (let at = 0; at < count; at += 1) await one.send(String(at), '{}', headers);
  return one.deliver('more', '{}', headers);
}

describe('a refusal by an inbox', () => {
  it.each(Object.entries(CAUSES))(
    'has the status after which its sender retries, caused by %s',
    async (_, [reason, cause]) => {
      for (const { status } of SENDERS) {
        const answer = await cause({ 'x-status': String(status) });
        expect(answer).toMatchObject({ status, headers: { 'Retry-After': expect.any(String) as string } });
        expect(JSON.parse(answer?.body ?? '')).toMatchObject({ status, reason });
      }
    },
  );
});
