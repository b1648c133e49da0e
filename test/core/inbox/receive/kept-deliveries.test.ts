import type { SenderProfile } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';

const SHOP = { 'x-shop': '1' };

function shopOf(switchOff: SenderProfile['switchOff']): SenderProfile {
  return { name: 'shop', match: { header: 'x-shop' }, switchOff, source: 'none', verifiedAt: '2026-11-22' };
}

/** An inbox at its high-water mark: 100 places, 20 of them in the reserve, and handlers that never end. */
async function shedding(switchOff: SenderProfile['switchOff']): Promise<InboxBench> {
  const bench = new InboxBench({ capacity: 100, concurrency: 1, senders: [shopOf(switchOff)] });
  while (bench.inbox.snapshot().depth < 80) await bench.deliver(undefined, '{}', SHOP);
  return bench;
}

/** The longest run of failures among these statuses. */
function longestRun(statuses: readonly number[]): number {
  let run = 0;
  return Math.max(0, ...statuses.map((status) => (run = status >= 300 ? run + 1 : 0)));
}

async function statuses(
  bench: InboxBench,
  count: number,
  headers: Record<string, string> = SHOP,
): Promise<number[]> {
  const answers: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const { status } = await bench.deliver(`${String(bench.events.length)} ${String(i)}`, '{}', headers);
    answers.push(status);
  }
  return answers;
}

describe('an inbox that sheds', () => {
  it.each([8, 6, 4, 3, 2])(
    'acknowledges one delivery before the warning of a limit of %i failures in a row',
    async (inARow) => {
      const bench = await shedding({ inARow });
      const seen = await statuses(bench, 12);
      // One failure before the warning, but not without any.
      expect(longestRun(seen)).toBe(Math.max(1, Math.floor(inARow * 0.75) - 1));
      expect(longestRun(seen)).toBeLessThan(inARow);
      expect(bench.inbox.snapshot().endangered).toEqual([]);
    },
  );

  it('refuses them all without such a rule', async () => {
    const bench = await shedding(undefined);
    expect(longestRun(await statuses(bench, 12))).toBe(12);
  });

  it('stores no more than necessary of deliveries that arrive together', async () => {
    const bench = await shedding({ inARow: 8 });
    await statuses(bench, 2);
    const answers = await Promise.all(
      Array.from({ length: 7 }, (_, i) => bench.send(`together ${String(i)}`, '{}', SHOP)),
    );
    const stored = answers.filter((answer) => answer?.status === 200);
    // Three more refusals, one delivery whose acknowledgement may come too late, and then all.
    expect(stored.length).toBeLessThanOrEqual(4);
    expect(longestRun(answers.map((answer) => answer?.status ?? 0))).toBeLessThan(8);
  });

  it('leaves the last places to such senders', async () => {
    const bench = await shedding({ inARow: 8 });
    await statuses(bench, 1);
    for (let i = 0; i < 30; i += 1) {
      await bench.deliver(undefined, '{}', { 'x-github-event': 'push', 'x-github-delivery': String(i) });
    }
    expect(bench.inbox.snapshot().depth).toBe(95);
    expect(longestRun(await statuses(bench, 20))).toBeLessThan(6);
  });

  it.each([{ inARow: 8 }, { ratio: 0.5, windowS: 3600 }])(
    'leaves room to other senders while it keeps the deliveries of a burst: %o',
    async (switchOff) => {
      const bench = await shedding(switchOff);
      const github = (id: string): Promise<number[]> =>
        statuses(bench, 1, { 'x-github-event': 'push', 'x-github-delivery': id });
      expect(await github('first')).toEqual([202]);
      await statuses(bench, 200);
      expect(await github('second')).toEqual([202]);
    },
  );

  it('warns before the limit when the last place is taken', async () => {
    const bench = await shedding({ inARow: 8 });
    const seen = await statuses(bench, 150);
    expect(longestRun(seen)).toBeGreaterThan(8);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 100, endangered: ['shop'] });
  });

  it('ends the failures of refusals before the key was known, too', async () => {
    let isPressed = true;
    const bench = new InboxBench({
      concurrency: 1,
      senders: [shopOf({ inARow: 8 })],
      keyGenerator: () => 'tenant',
      pressure: () => isPressed,
    });
    await statuses(bench, 2);
    isPressed = false;
    await statuses(bench, 1);
    isPressed = true;
    expect(await statuses(bench, 6)).toEqual([503, 503, 503, 503, 503, 200]);
  });
});

describe('a sender that counts failures in a window', () => {
  it('gets no refusal near its limit while there are places', async () => {
    const bench = await shedding({ count: 20, windowS: 60 });
    const seen = await statuses(bench, 30);
    expect(seen.filter((status) => status >= 300)).toHaveLength(15);
    expect(bench.inbox.snapshot().endangered).toEqual(['shop']);
    await bench.advance(70_000);
    expect((await statuses(bench, 1))[0]).toBe(429);
  });
});
