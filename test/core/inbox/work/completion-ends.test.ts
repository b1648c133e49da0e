import { memoryStore } from '@webhook-backpressure/inbox';
import { expect, it, vi } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';

it('does not report a delivery as completed that another process has taken over and completed', async () => {
  const store = Object.assign(memoryStore(), { settleIn: () => false });
  const bench = new InboxBench({ store });
  await bench.deliver('a');
  expect(() => bench.last.complete({})).toThrow(
    expect.objectContaining({ code: 'ERR_WBP_CLAIM_LOST' }) as Error,
  );
  vi.spyOn(store, 'getPending').mockReturnValue(undefined);
  vi.spyOn(store, 'settle').mockImplementation((settlements) => settlements.map(() => false));
  await bench.last.fail();
  expect(bench.told('completed')).toEqual([]);
  expect(bench.told('lost')).toHaveLength(1);
});
