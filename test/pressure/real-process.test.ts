import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ProcessReadings } from '@webhook-backpressure/node';
import { afterEach, describe, expect, it } from 'vitest';
import { Sender, type Reply, type Sent } from '../conformance/sender.ts';

interface Message {
  readonly address?: AddressInfo;
  readonly isPressed?: boolean;
  readonly turns?: number;
  readonly readings?: ProcessReadings;
}

const TIMEOUT_MS = 30_000;

let child: ChildProcess;
let messages: AsyncIterator<unknown[]>;
const sender = new Sender(false);

function start(name: string, ...execArgv: string[]): void {
  // Without the export condition by which tests import our packages from their sources.
  child = fork(join(import.meta.dirname, 'children', name), { execArgv });
  messages = on(child, 'message') as AsyncIterator<unknown[]>;
}

async function nextMessage(): Promise<Message> {
  const { value } = (await messages.next()) as IteratorYieldResult<[Message]>;
  return value[0];
}

function order(what: string): Promise<Message> {
  child.send(what);
  return nextMessage();
}

afterEach(() => {
  sender.destroy();
  child.kill('SIGKILL');
});

describe('a process that blocks its event loop', () => {
  it(
    'refuses deliveries, admits critical ones, recovers, and can end',
    async () => {
      start('blocked.js');
      const { address } = await nextMessage();
      const post = (sent?: Sent): Promise<Reply> => sender.send(address?.port ?? 0, sent).reply;
      expect((await post()).status).toBe(200);

      expect(await order('block')).toMatchObject({ isPressed: true });
      const refused = await post();
      expect(refused.status).toBe(503);
      expect(JSON.parse(refused.body)).toMatchObject({ reason: 'pressure' });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect((await post({ headers: { 'X-Priority': 'critical' } })).status).toBe(200);

      expect(await order('calm')).toMatchObject({ isPressed: false });
      expect((await post()).status).toBe(200);

      // The measuring is not closed, and does not keep the process alive.
      child.send('end');
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
    TIMEOUT_MS,
  );
});

describe('a process after a long idle time', () => {
  it(
    'detects a burst within a few windows',
    async () => {
      start('idle-then-busy.js');
      const { turns, readings } = await nextMessage();
      // Two windows are 40 turns. A burst of 400 turns would be half of the time since the start.
      expect(turns).toBeLessThan(400);
      expect(readings?.eventLoopUtilization).toBeGreaterThan(0.98);
    },
    TIMEOUT_MS,
  );
});

describe('a process whose heap is full', () => {
  it(
    'detects it from full collections, and also the end of it',
    async () => {
      // Both count towards the limit, and the default size of the young generation grows with Node versions.
      start('collecting.js', '--expose-gc', '--max-old-space-size=96', '--max-semi-space-size=16');
      await nextMessage();
      const full = await order('fill');
      expect(full).toMatchObject({ isPressed: true });
      expect(full.readings?.heapFraction).toBeGreaterThan(0.4);
      const empty = await order('empty');
      expect(empty).toMatchObject({ isPressed: false });
      expect(empty.readings?.heapFraction).toBeLessThan(0.36);
    },
    TIMEOUT_MS,
  );
});
