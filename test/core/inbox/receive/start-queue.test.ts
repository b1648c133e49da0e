import { createInbox, type InboxAnswer, type InboxRequest, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { slowStore } from '../slow-store.ts';

/** A bench whose store the test opens. */
function startingBench(): { bench: InboxBench; open: () => Promise<void>; fail: () => Promise<void> } {
  const slow = slowStore();
  return {
    bench: new InboxBench({ store: slow.store }),
    open: () => {
      slow.open();
      return turns();
    },
    fail: () => {
      slow.fail();
      return turns();
    },
  };
}

/** Sends deliveries, and notes their answers in the order in which they come. */
function sender(bench: InboxBench): { send: (...ids: string[]) => Promise<void>; answers: string[] } {
  const answers: string[] = [];
  return {
    answers,
    send: async (...ids) => {
      for (const id of ids) {
        void bench.send(id).then((answer) => answers.push(`${id} ${summaryOf(answer)}`));
      }
      await turns();
    },
  };
}

function summaryOf(answer: InboxAnswer | null): string {
  if (answer === null) return 'gone';
  const { reason = '' } = JSON.parse(answer.body) as { reason?: string };
  const isRetriable = answer.headers['Retry-After'] !== undefined;
  return [answer.status, reason, isRetriable ? 'retry-after' : ''].join(' ').trim();
}

/** Every delivery has one answer, and one event. */
function expectBalance({ inbox, events }: InboxBench, stored: number, refused: number): void {
  const { totals } = inbox.snapshot();
  const sum = Object.values(totals.refused).reduce((all, count) => all + count, 0);
  expect([totals.arrivals, totals.stored, sum]).toEqual([stored + refused, stored, refused]);
  expect(events.filter(({ type }) => type === 'stored')).toHaveLength(stored);
  expect(events.filter(({ type }) => type === 'refused')).toHaveLength(refused);
}

describe('a delivery that arrives while the store opens for the first time', () => {
  it('waits, and is stored in the order of arrival when the store is open', async () => {
    const { bench, open } = startingBench();
    const { send, answers } = sender(bench);
    await send('a', 'b', 'c');
    expect([answers, bench.events]).toEqual([[], []]);
    await open();
    expect(answers).toEqual(['a 200', 'b 200', 'c 200']);
    expect(bench.told('stored')).toEqual(['stored a', 'stored b', 'stored c']);
    expectBalance(bench, 3, 0);
    await bench.advance(10_000);
    expectBalance(bench, 3, 0);
  });

  it('is stored before one that arrives when the store is open', async () => {
    const { bench, open } = startingBench();
    const { send, answers } = sender(bench);
    await send('a');
    void bench.inbox.opened.then(() => send('b'));
    await open();
    expect(answers).toEqual(['a 200', 'b 200']);
    expect(bench.told('stored')).toEqual(['stored a', 'stored b']);
  });

  it('waits with its body unread', async () => {
    const { bench, open } = startingBench();
    let reads = 0;
    const request: InboxRequest = {
      headers: {},
      hint: '',
      read: () => {
        reads += 1;
        return Promise.resolve('whole');
      },
    };
    void bench.inbox.receive(request);
    await turns();
    expect(reads).toBe(0);
    await open();
    expect(reads).toBe(1);
  });

  it('is refused when the first attempt fails, and so are those after it until the store is open', async () => {
    const { bench, open, fail } = startingBench();
    const { send, answers } = sender(bench);
    await send('a', 'b');
    await fail();
    expect(answers.splice(0)).toEqual(['a 503 pressure retry-after', 'b 503 pressure retry-after']);
    await send('c');
    expect(answers.splice(0)).toEqual(['c 503 pressure retry-after']);
    await bench.advance(100);
    // The second attempt is in progress.
    await send('d');
    expect(answers.splice(0)).toEqual(['d 503 pressure retry-after']);
    await open();
    await send('e');
    expect(answers).toEqual(['e 200']);
    expectBalance(bench, 1, 4);
  });

  it('is refused when the inbox closes', async () => {
    const { bench, open } = startingBench();
    const { send, answers } = sender(bench);
    await send('a', 'b');
    void bench.inbox.close();
    await turns();
    await send('c');
    expect(answers).toEqual([
      'a 503 closing retry-after',
      'b 503 closing retry-after',
      'c 503 closing retry-after',
    ]);
    await open();
    expectBalance(bench, 0, 3);
  });

  it.each([
    ['an unknown sender', {}, 8000],
    [
      'Slack, which gives up after 3 s',
      { 'x-slack-request-timestamp': '1', 'x-slack-signature': 'v0=a' },
      2400,
    ],
    ['GitHub, which gives up after 10 s', { 'x-github-event': 'push', 'x-github-delivery': 'a' }, 9500],
  ])('is refused in time for %s', async (_name, headers, atMs) => {
    const { bench, open } = startingBench();
    let answer: InboxAnswer | null = null;
    void bench.send(undefined, '{}', headers).then((given) => (answer = given));
    await bench.advance(atMs - 50);
    expect(answer).toBeNull();
    await bench.advance(100);
    expect(summaryOf(answer)).toBe('503 wait retry-after');
    expectBalance(bench, 0, 1);
    await open();
    expectBalance(bench, 0, 1);
  });

  it('is refused if 1,000 wait already, and waits again when the deadlines of those have passed', async () => {
    const { bench, open } = startingBench();
    const { send, answers } = sender(bench);
    await send(...Array.from({ length: 1001 }, (_none, at) => String(at)));
    expect(answers.splice(0)).toEqual(['1000 503 pressure retry-after']);
    await bench.advance(8050);
    expect(answers.splice(0)).toHaveLength(1000);
    await send('later');
    expect(answers).toEqual([]);
    await open();
    expect(answers).toEqual(['later 200']);
    expectBalance(bench, 1, 1001);
  });

  it('is not stored if its sender has disconnected meanwhile', async () => {
    const { bench, open } = startingBench();
    const answered = bench.inbox.receive({ headers: {}, hint: '', read: () => Promise.resolve('gone') });
    await turns();
    await open();
    expect(await answered).toBeNull();
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { arrivals: 1, stored: 0 } });
    await bench.advance(10_000);
    expect(bench.told('refused')).toEqual([]);
  });

  it('sets no timer except that of the deadlines', async () => {
    const { bench, open } = startingBench();
    const { send } = sender(bench);
    await send('a', 'b', 'c');
    expect(bench.clock.pending).toBe(1);
    await open();
    for (const call of bench.calls) await call.finish();
    await bench.inbox.close();
    await bench.advance(50);
    expect(bench.clock.pending).toBe(0);
  });
});

describe('a delivery in the build of an app', () => {
  it('is refused immediately, since the store stays closed', async () => {
    vi.stubEnv('NEXT_PHASE', 'phase-production-build');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { bench } = startingBench();
    const { send, answers } = sender(bench);
    await send('a');
    expect(answers).toEqual(['a 503 pressure retry-after']);
  });
});

describe('a store that opens without a wait', () => {
  it('lets the body be read within the call', async () => {
    const inbox = createInbox({ store: memoryStore(), process: () => undefined, verify: false });
    let reads = 0;
    const read = (): Promise<'gone'> => {
      reads += 1;
      return Promise.resolve('gone');
    };
    const answered = inbox.receive({ headers: {}, hint: '', read });
    expect(reads).toBe(1);
    await answered;
    await inbox.close();
  });
});
