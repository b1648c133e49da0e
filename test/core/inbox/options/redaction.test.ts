import { type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { REDACTED } from '../../../../packages/inbox/src/options/inbox-settings.ts';
import { InboxBench } from '../inbox-bench.ts';

const HEADERS = Object.fromEntries([...REDACTED, 'x-signature'].map((name) => [name, 'geheim']));

async function storedNames(options: Partial<InboxOptions>): Promise<{ seen: string[]; handled: string[] }> {
  let seen: string[] = [];
  const bench = new InboxBench({
    ...options,
    store: memoryStore(),
    verify: ({ headers }) => {
      seen = Object.keys(headers);
      return true;
    },
  });
  expect((await bench.deliver('a', '{}', HEADERS)).status).toBe(202);
  return { seen, handled: Object.keys(bench.last.delivery.headers) };
}

describe('redacted headers', () => {
  it('are passed to verify, and are not stored', async () => {
    const { seen, handled } = await storedNames({});
    expect(seen).toEqual(expect.arrayContaining(['authorization', 'cookie', 'x-gitlab-token']));
    expect(handled).toEqual(['webhook-id', 'x-signature']);
  });

  it('can be a list of names in any case', async () => {
    const { handled } = await storedNames({ redact: ['X-Signature', 'Authorization'] });
    expect(handled).not.toContain('x-signature');
    expect(handled).not.toContain('authorization');
    expect(handled).toContain('cookie');
    expect((await storedNames({ redact: [] })).handled).toContain('authorization');
  });

  it('can be chosen by a function', async () => {
    const { handled } = await storedNames({ redact: (name) => name.startsWith('x-') });
    expect(handled).toContain('authorization');
    expect(handled.filter((name) => name.startsWith('x-'))).toEqual([]);
  });

  it.each([[null], ['authorization'], [[1]], [{}], [true]])('cannot be %s', (redact) => {
    expect(() => new InboxBench({ redact: redact as never })).toThrow('ERR_WBP_REDACT');
  });

  it('are by default those in the documentation of the option', () => {
    expect(REDACTED).toEqual([...new Set(REDACTED.map((name) => name.toLowerCase()))]);
  });
});
