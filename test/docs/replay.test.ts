import { expect, it } from 'vitest';
import { InboxBench } from '../core/inbox/inbox-bench.ts';
import { page, sectionOf, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';

const HOUR_MS = 3_600_000;
const blocks = tokensOf('code', sectionOf(page('docs/inbox.md'), "Replay yesterday's failures"));

it("redrives yesterday's dead letters of one error, and no others", async () => {
  const start = Date.parse('2026-11-22T23:00:00Z');
  const bench = new InboxBench({ retry: { attempts: 1 } }, start);
  const fail = async (id: string, error: string): Promise<void> => {
    await bench.deliver(id);
    await bench.last.fail(new Error(error));
  };
  await fail('before', 'price is undefined');
  await bench.advance(2 * HOUR_MS);
  await fail('yesterday', 'price is undefined');
  await fail('other error', 'fetch failed');
  await bench.advance(24 * HOUR_MS);
  await fail('today', 'price is undefined');
  const calls = bench.calls.length;
  const [code] = blocks.filter(({ lang }) => lang === 'ts');
  const program = `const done = (async () => {\n${code?.text ?? ''}\n})();`;
  await runBlock(program, {}, { inbox: bench.inbox }, 'done');
  await bench.advance(0);
  expect(bench.calls.slice(calls).map(({ delivery, attempt }) => [delivery.id, attempt])).toEqual([
    ['yesterday', 1],
  ]);
  expect(bench.inbox.snapshot().deadLetters).toBe(3);
});
