import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { IntakeSnapshot } from '@webhook-backpressure/core';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Report extends Pick<IntakeSnapshot, 'depth' | 'active' | 'totals'> {
  readonly maxDepth: number;
  readonly fullAfterMs: number;
  readonly startingMs: number;
  /** Every half second, after a garbage collection. */
  readonly memory: readonly { readonly rssMiB: number; readonly heapMiB: number }[];
}

const CAPACITY = 400;
const DRAIN_RATE = 200;
const SECONDS = 5;
const RATE = 1000;
/** A connection sends one request a second unless its delivery is queued, and up to 400 are queued. */
const CONNECTIONS = RATE + CAPACITY;

/** The responses that the senders received. */
class Answers {
  readonly byStatus = new Map<number, number>();
  readonly retryAfter: (string | undefined)[] = [];
  readonly errors: unknown[] = [];
  sent = 0;

  count(status: number, retryAfter: string | undefined): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    if (status !== 200) this.retryAfter.push(retryAfter);
  }
}

/** One connection: at most one request per second, then it disconnects, even if its delivery is still queued. */
async function send(port: number, answers: Answers, delayMs: number): Promise<void> {
  await setTimeout(delayMs);
  const client = new Client(`http://127.0.0.1:${String(port)}`);
  const hasHungUp = (): boolean => client.destroyed;
  const end = setTimeout(SECONDS * 1000).then(() => client.destroy());
  while (!hasHungUp()) {
    const nextSecond = setTimeout(1000);
    try {
      answers.sent += 1;
      const { statusCode, headers, body } = await client.request({
        path: '/',
        method: 'POST',
        body: '{"event":"paid"}',
      });
      await body.dump();
      const retryAfter = headers['retry-after'];
      answers.count(statusCode, typeof retryAfter === 'string' ? retryAfter : undefined);
    } catch (error) {
      if (!hasHungUp()) answers.errors.push(error);
    }
    await nextSecond;
  }
  await end;
}

describe('an overload of 1,000 deliveries per second with a drain rate of 200 and a capacity of 400', () => {
  let child: ChildProcess;
  let report: Report;
  const answers = new Answers();

  beforeAll(async () => {
    child = fork(join(import.meta.dirname, 'children/mission.js'), { execArgv: ['--expose-gc'] });
    const [{ address }] = (await once(child, 'message')) as [{ address: AddressInfo }];
    await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, index) =>
        send(address.port, answers, (index * 1000) / CONNECTIONS),
      ),
    );
    do {
      child.send('report');
      [{ report }] = (await once(child, 'message')) as [{ report: Report }];
      // The senders have disconnected queued deliveries, which the receiver is about to notice.
    } while (report.depth + report.active > 0);
    print();
  }, 30_000);

  afterAll(async () => {
    child.kill();
    await once(child, 'exit');
  });

  function print(): void {
    const { maxDepth, fullAfterMs, startingMs, totals, memory } = report;
    const perSecond = (totals.started / startingMs) * 1000;
    console.log(
      [
        `sent ${String(answers.sent)}, answered ${JSON.stringify(Object.fromEntries(answers.byStatus))}`,
        `full after ${fullAfterMs.toFixed(0)} ms, deepest ${String(maxDepth)}`,
        `started ${String(totals.started)}, ${perSecond.toFixed(1)} a second`,
        `Retry-After ${String(Math.min(...answers.retryAfter.map(Number)))} to ${String(Math.max(...answers.retryAfter.map(Number)))} s`,
        `RSS ${memory.map(({ rssMiB }) => rssMiB).join(' ')} MiB`,
        `heap ${memory.map(({ heapMiB }) => heapMiB).join(' ')} MiB`,
      ].join('\n'),
    );
  }

  it('fills the queue up to its capacity and never beyond', () => {
    expect(report.maxDepth).toBe(CAPACITY);
  });

  it('gets only 200, 429 and 503, and no errors', () => {
    expect([...answers.byStatus.keys()].filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
    expect(answers.errors).toEqual([]);
    expect(answers.byStatus.get(200)).toBeGreaterThan(0);
  });

  it('gets Retry-After with each refusal', () => {
    expect(answers.retryAfter.length).toBeGreaterThan(CAPACITY);
    expect(answers.retryAfter.filter((value) => !/^[1-9]\d*$/.test(value ?? ''))).toEqual([]);
  });

  it('starts about 200 deliveries per second, and never more', () => {
    const { started } = report.totals;
    const allowed = (report.startingMs / 1000) * DRAIN_RATE;
    // The first one starts immediately.
    expect(started).toBeLessThanOrEqual(allowed + 2);
    expect(started).toBeGreaterThan(allowed / 4);
  });

  it('accounts for every delivery', () => {
    const { admitted, completed, failed, withdrawn, refused } = report.totals;
    expect(admitted).toBe(completed + failed + withdrawn.abandoned + withdrawn.expired);
    expect(refused.full + refused.shedding).toBeGreaterThanOrEqual(
      answers.retryAfter.length - withdrawn.expired,
    );
  });

  it('takes no more memory at the end than when the queue was first full', () => {
    // After two seconds the queue is full and all connections are open.
    const [full, last] = [report.memory[3], report.memory.at(-1)];
    expect((last?.heapMiB ?? Infinity) - (full?.heapMiB ?? 0)).toBeLessThan(8);
    expect((last?.rssMiB ?? Infinity) - (full?.rssMiB ?? 0)).toBeLessThan(64);
  });
});
