import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { IntakeSnapshot } from '@webhook-backpressure/core';
import autocannon from 'autocannon';
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
/**
 * A connection sends one request per second unless its delivery waits, and up to 400 wait. One instance of the tool sends
 * on all its connections simultaneously; ten instances, started one after the other, approximate a steady stream.
 */
const TOOLS = 10;
const CONNECTIONS = (1000 + CAPACITY) / TOOLS;

/** The responses that the senders received. */
class Answers {
  readonly byStatus = new Map<number, number>();
  readonly retryAfter: (string | undefined)[] = [];

  /** Receives the parsed response, of which the tool's types lack a part. */
  readonly count = (head: object): void => {
    const { statusCode, headers } = head as { statusCode: number; headers: string[] };
    this.byStatus.set(statusCode, (this.byStatus.get(statusCode) ?? 0) + 1);
    if (statusCode === 200) return;
    const at = headers.findIndex((field, index) => index % 2 === 0 && field.toLowerCase() === 'retry-after');
    this.retryAfter.push(at < 0 ? undefined : headers[at + 1]);
  };
}

async function fire(port: number, answers: Answers, delayMs: number): Promise<autocannon.Result> {
  await setTimeout(delayMs);
  return autocannon({
    url: `http://127.0.0.1:${String(port)}`,
    method: 'POST',
    body: '{"event":"paid"}',
    connections: CONNECTIONS,
    overallRate: CONNECTIONS,
    duration: SECONDS,
    setupClient: (client) => {
      client.on('headers', answers.count);
    },
  });
}

describe('an overload of 1,000 deliveries per second with a drain rate of 200 and a capacity of 400', () => {
  let child: ChildProcess;
  let report: Report;
  let results: autocannon.Result[];
  const answers = new Answers();

  beforeAll(async () => {
    child = fork(join(import.meta.dirname, 'children/mission.js'), { execArgv: ['--expose-gc'] });
    const [{ address }] = (await once(child, 'message')) as [{ address: AddressInfo }];
    const tools = Array.from({ length: TOOLS }, (_, index) =>
      fire(address.port, answers, (index * 1000) / TOOLS),
    );
    results = await Promise.all(tools);
    do {
      child.send('report');
      [{ report }] = (await once(child, 'message')) as [{ report: Report }];
      // The tool has disconnected its waiting deliveries, which the receiver is about to notice.
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
    const sent = results.reduce((sum, { requests }) => sum + requests.sent, 0);
    console.log(
      [
        `sent ${String(sent)}, answered ${JSON.stringify(Object.fromEntries(answers.byStatus))}`,
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
    for (const { errors, timeouts } of results) expect([errors, timeouts]).toEqual([0, 0]);
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
