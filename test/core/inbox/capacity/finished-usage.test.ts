import { memoryStore } from '@webhook-backpressure/inbox';
import { expect, it } from 'vitest';
import { FinishedUsage } from '@webhook-backpressure/inbox/store';
import { resolveInboxOptions } from '../../../../packages/inbox/src/options/inbox-settings.ts';

const REF = { key: 'a', id: 'a', attempt: 1 };

it('counts a dead letter that is being stored on top of the counts of the store', async () => {
  const store = memoryStore();
  const options = { store, process: () => undefined, verify: false, maxDeadLetters: 1 } as const;
  const usage = new FinishedUsage(() => resolveInboxOptions(options).settings);
  const empty = await store.open(0);
  usage.learn(empty);
  const confirm = usage.expect({ ...REF, as: 'dead', error: 'e' }, 10);
  usage.learn(empty);
  expect([usage.deadLetters, usage.canKeepDeadLetter(1)]).toEqual([{ count: 1, bytes: 10 }, false]);
  confirm(false);
  expect([usage.deadLetters, usage.canKeepDeadLetter(1)]).toEqual([{ count: 0, bytes: 0 }, true]);
});
