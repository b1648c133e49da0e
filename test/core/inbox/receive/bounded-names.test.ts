import { describe, expect, it } from 'vitest';
import { boundedName } from '../../../../packages/inbox/src/receive/delivery-fields.ts';
import { InboxBench } from '../inbox-bench.ts';

const LONG = 'x'.repeat(300);

describe('a long id or key', () => {
  it('is replaced by its SHA-256', async () => {
    const hash = 'sha256:e8d95cc2b4bc198c54b40bd214df958afb65f5e73d2c2eafe0593cf5c635c1f0';
    expect(await boundedName('a'.repeat(257), true)).toBe(hash);
  });

  it.each([
    ['\ud800', '\ud801'],
    ['\ud800', '\ufffd'],
    ['\udc00\ud800', '\ufffd\ufffd'],
    ['a\udfff', 'a\udffe'],
  ])('stays different from one that differs only in lone surrogates', async (one, other) => {
    expect(await boundedName(LONG + one, true)).not.toBe(await boundedName(LONG + other, true));
    const bench = new InboxBench({
      concurrency: 1,
      id: ({ json }) => (json() as { id: string }).id,
      keyGenerator: ({ json }) => (json() as { key: string }).key,
    });
    const deliver = async (id: string, key: string): Promise<string> => {
      const answer = await bench.deliver(undefined, JSON.stringify({ id, key }));
      return (JSON.parse(answer.body) as { status: string }).status;
    };
    expect(await deliver(LONG + one, 'k')).toBe('accepted');
    expect(await deliver(LONG + other, 'k')).toBe('accepted');
    expect(await deliver(LONG + one, LONG + one)).toBe('accepted');
    expect(await deliver(LONG + one, LONG + other)).toBe('accepted');
    expect(await deliver(LONG + one, 'k')).toBe('duplicate');
  });
});
