import { describe, expect, it } from 'vitest';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { RequestFailure } from '@webhook-backpressure/sender/parts';
import { parseCommand } from '../../packages/fire/src/cli/arguments.ts';
import { fireAt } from '../../packages/fire/src/cli/fire.ts';
import type { Report } from '../../packages/fire/src/report/report.ts';

const WALL_MS = Date.parse('2026-11-28T12:00:00Z');

/** What the endpoint does with an attempt: a status, with Retry-After, after a time; or no answer before the timeout. */
interface Reaction {
  readonly status: number;
  readonly retryAfter?: string;
  readonly afterMs?: number;
  readonly onAnswer?: () => void;
}

interface Attempt {
  readonly atS: number;
  readonly id: string;
}

interface Run {
  readonly report: Report;
  readonly attempts: readonly Attempt[];
}

/** Fires on the manual clock, at an endpoint that reacts to the `n`th request. */
async function run(
  line: string,
  react: (n: number, attempt: Attempt) => Reaction | 'hang',
  {
    signal = new AbortController().signal,
    url = 'http://127.0.0.1:9/hooks',
  }: { signal?: AbortSignal; url?: string } = {},
): Promise<Run> {
  const clock = manualClock();
  const attempts: Attempt[] = [];
  const command = parseCommand([url, ...line.split(' ')], 1);
  if (command.name !== 'fire') throw new Error('The command does not fire.');
  let isOver = false;
  const fired = fireAt(command, {
    signal,
    clock,
    wallClock: () => WALL_MS + clock.now(),
    requester: {
      send: ({ headers, body, signal: ended }) =>
        new Promise((resolve, reject) => {
          ended.addEventListener('abort', () => {
            reject(new RequestFailure('timeout', 'No answer within the timeout.'));
          });
          const id = headers['Svix-Id'] ?? headers['X-GitHub-Delivery'] ?? body.toString();
          const attempt = { atS: clock.now() / 1000, id };
          attempts.push(attempt);
          const reaction = react(attempts.length, attempt);
          if (reaction === 'hang') return;
          const { status, retryAfter, afterMs = 0, onAnswer } = reaction;
          const header = (name: string): string | undefined =>
            name === 'retry-after' ? retryAfter : undefined;
          clock.setTimeout(() => {
            onAnswer?.();
            resolve({ status, header, body: new Uint8Array() });
          }, afterMs);
        }),
      close: () => Promise.resolve(),
    },
  }).finally(() => {
    isOver = true;
  });
  await advance(clock, () => isOver);
  const [report] = await fired;
  return { report, attempts };
}

/** Lets the reactions of promises run between two timers. */
async function advance(clock: ManualClock, isOver: () => boolean): Promise<void> {
  let idle = 0;
  while (!isOver() && idle < 20) {
    await new Promise((resolve) => setImmediate(resolve));
    idle = clock.advanceToNext() ? 0 : idle + 1;
  }
}

const gaps = (attempts: readonly Attempt[]): number[] =>
  attempts.slice(1).map(({ atS }, at) => Math.round((atS - (attempts[at] as Attempt).atS) * 10) / 10);

describe('a run of fire', () => {
  it('sends each delivery of a burst once if it is acknowledged, evenly', async () => {
    const { report, attempts } = await run('--as github --burst 100/5s', () => ({
      status: 202,
      afterMs: 30,
    }));
    expect(attempts).toHaveLength(100);
    expect(new Set(gaps(attempts))).toEqual(new Set([0, 0.1]));
    expect(attempts.at(-1)?.atS).toBeCloseTo(4.95);
    expect(report).toMatchObject({
      events: 100,
      delivered: 100,
      lost: 0,
      open: 0,
      repeated: 0,
      attempts: 100,
      ackMs: { p50: 30, p99: 30 },
    });
  });

  it('sends exactly as many as it was asked for', async () => {
    for (const burst of ['1/1s', '3/7s', '7/3s', '999/13s', '2000/3s']) {
      const { report } = await run(`--as github --burst ${burst}`, () => ({ status: 200 }));
      expect(report.events).toBe(Number(burst.split('/')[0]));
    }
  });

  it('repeats nothing for a sender that never retries', async () => {
    const { report, attempts } = await run('--as github --burst 20/1s', () => ({
      status: 503,
      retryAfter: '1',
    }));
    expect(attempts).toHaveLength(20);
    expect(report).toMatchObject({ delivered: 0, lost: 20, repeated: 0, attempts: 20 });
    expect(report.senders[0]?.conclusion).toBe(
      'It has given up 20 after one attempt, since it never retries.',
    );
  });

  it('retries on the schedule of the sender, with the same id', async () => {
    const { report, attempts } = await run('--as aws-sns --burst 1/1s', () => ({ status: 503 }));
    expect(attempts).toHaveLength(4);
    for (const gap of gaps(attempts)) expect(gap).toBeCloseTo(20, -1);
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
    expect(report).toMatchObject({ lost: 1, repeated: 1, attempts: 4 });
  });

  it('divides waits and the time of the burst by --speed, but not the answers', async () => {
    const slow = await run('--as aws-sns --burst 2/10s', (n) => ({
      status: n < 3 ? 503 : 200,
      afterMs: 100,
    }));
    const fast = await run('--as aws-sns --burst 2/10s --speed 100', (n) => ({
      status: n < 3 ? 503 : 200,
      afterMs: 100,
    }));
    expect(slow.report.seconds).toBeGreaterThan(20);
    expect(fast.report.seconds).toBeLessThan(0.6);
    expect(fast.attempts[1]?.atS).toBe(0.05);
    // For the sender it has taken as long.
    expect(Math.abs((fast.report.ackMs.p50 ?? 0) - (slow.report.ackMs.p50 ?? 0))).toBeLessThan(9000);
    expect(fast.report.ackMs.p50).toBeGreaterThan(16_000);
  });

  it('honors Retry-After as the sender does, in its unit', async () => {
    const honoring = await run('--as unknown:1,hookdeck:1 --burst 40/1s', (n) =>
      n <= 40 ? { status: 429, retryAfter: '77' } : { status: 200 },
    );
    const waits = honoring.report.senders.map(({ ackMs }) => ackMs.p50);
    expect(waits[1]).toBe(77_000);
    expect(waits[0]).toBeLessThan(13_000);
    const inMs = await run('--as hubspot-workflows --burst 1/1s', (n) =>
      n === 1 ? { status: 429, retryAfter: '90000' } : { status: 200 },
    );
    expect(inMs.report.ackMs.p50).toBe(90_000);
  });

  it('gives up after a status that the sender does not retry, and treats 5xx alike', async () => {
    const rows = [
      ['aws-sns', 429, 1],
      ['aws-sns', 500, 4],
      ['bitbucket', 404, 1],
      ['bitbucket', 502, 3],
      ['mailgun', 406, 1],
      ['jira', 400, 1],
      ['linear', 202, 4],
    ] as const;
    for (const [sender, status, attempts] of rows) {
      const { report } = await run(`--as ${sender} --burst 1/1s --speed 1000`, () => ({ status }));
      expect([sender, status, report.attempts, report.lost]).toEqual([sender, status, attempts, 1]);
    }
  });

  it('sends nothing to an endpoint that the sender has disabled', async () => {
    const { report } = await run('--as shopify --burst 50/5s', () => ({ status: 503 }));
    expect(report.attempts).toBe(8);
    expect(report.senders[0]).toMatchObject({ disabled: true, lost: 50, notSent: 50 });
    expect(report.senders[0]?.conclusion).toBe(
      'It has disabled the endpoint and did not send 50 that were due. It has given up none.',
    );
    const gone = await run('--as kit --burst 5/5s', () => ({ status: 410 }));
    expect(gone.report).toMatchObject({ attempts: 1, lost: 5 });
    expect(gone.report.senders[0]).toMatchObject({ disabled: true, notSent: 4 });
  });

  it('gives up an attempt at the timeout of the sender, which --speed does not shorten', async () => {
    const { report, attempts } = await run('--as slack --burst 1/1s --speed 100', (n) =>
      n === 1 ? 'hang' : { status: 200 },
    );
    expect(attempts).toHaveLength(2);
    expect(attempts[1]?.atS).toBeGreaterThanOrEqual(3);
    expect(report.answers).toEqual({ 200: 1, timeout: 1 });
    expect(report.failures).toEqual({ timeout: 'No answer within the timeout.' });
  });

  it('starts no attempt after --for, and awaits those under way', async () => {
    const { report, attempts } = await run('--as svix --normal 1/s --for 10s', () => ({
      status: 503,
      afterMs: 400,
    }));
    expect(Math.max(...attempts.map(({ atS }) => atS))).toBeLessThanOrEqual(10);
    expect(report).toMatchObject({ events: 10, delivered: 0, lost: 0, open: 10 });
    expect(report.senders[0]?.conclusion).toBe('It has given up none. It would go on with 10.');
  });

  it('ends with the report so far when it is interrupted', async () => {
    const interrupted = new AbortController();
    const { report, attempts } = await run(
      '--as svix --burst 100/10s',
      (n) => {
        if (n === 30) interrupted.abort();
        return n % 2 === 0 ? 'hang' : { status: 200 };
      },
      { signal: interrupted.signal },
    );
    expect(attempts.length).toBe(30);
    expect(report).toMatchObject({ events: 30, open: 15, delivered: 15, lost: 0 });
  });

  it('leaves a delivery open whose Retry-After is years', async () => {
    const { report } = await run('--as standard-webhooks --burst 1/1s --for 1h', () => ({
      status: 429,
      retryAfter: '99999999999',
    }));
    expect(report).toMatchObject({ lost: 0, open: 1, attempts: 1 });
  });

  it('counts a delivery that is open at the end against --max-lost', async () => {
    const { report } = await run('--as svix --burst 3/1s --for 2s --max-lost 2 --max-p99 1s', () => ({
      status: 503,
    }));
    expect(report.exceeded).toEqual([
      '0 deliveries were lost and 3 open, but --max-lost is 2.',
      'Nothing was acknowledged, but --max-p99 is 1000 ms.',
    ]);
  });

  it('predicts what the planner does with the same deliveries', async () => {
    const { report } = await run('--as github --burst 400/1s --service 80ms --concurrency 2', () => ({
      status: 200,
    }));
    expect(report.predicted?.map(({ mode }) => mode)).toEqual(['none', 'hold', 'inbox']);
    for (const { delivered, lost } of report.predicted ?? []) expect(delivered + lost).toBe(400);
    expect(report.predicted?.[0]?.lost).toBeGreaterThan(0);
    expect(report.predicted?.[2]).toMatchObject({ lost: 0, attempts: 400 });
  });
});

describe('the bounds of fire', () => {
  it('start at most 1,000 attempts a second to a public host', async () => {
    const { attempts } = await run(
      '--as bitbucket --burst 900/1s --i-own shop.example',
      () => ({ status: 503 }),
      {
        url: 'http://shop.example/',
      },
    );
    expect(attempts).toHaveLength(2700);
    const bySecond = bySecondOf(attempts);
    for (const [second, { length }] of bySecond) expect([second, length <= 1000]).toEqual([second, true]);
    expect(bySecond.get(0)).toHaveLength(1000);
  });

  it('have at most 5,000 requests under way', async () => {
    let underWay = 0;
    let most = 0;
    const { report } = await run('--as github --burst 6000/1s', () => {
      underWay += 1;
      most = Math.max(most, underWay);
      return { status: 200, afterMs: 2000, onAnswer: () => (underWay -= 1) };
    });
    expect(most).toBe(5000);
    expect(report).toMatchObject({ delivered: 6000, attempts: 6000 });
    expect(report.maxLateMs).toBeGreaterThan(900);
  });

  it('count deliveries that were due, but had to wait for them until the end', async () => {
    const { report } = await run('--as github --burst 6000/1s --for 2s --max-lost 900', () => 'hang');
    expect(report).toMatchObject({ events: 6000, attempts: 5000, lost: 5000, open: 1000 });
  });
});

function bySecondOf(attempts: readonly Attempt[]): Map<number, Attempt[]> {
  const seconds = new Map<number, Attempt[]>();
  for (const attempt of attempts) {
    const second = Math.floor(attempt.atS);
    seconds.set(second, [...(seconds.get(second) ?? []), attempt]);
  }
  return seconds;
}
