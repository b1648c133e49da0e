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

const PATIENCE_MS = 30_000;

let child: ChildProcess;
let messages: AsyncIterator<unknown[]>;
const sender = new Sender(false);

function start(name: string, ...execArgv: string[]): void {
  // Without the conditions under which the tests take our packages from their sources.
  child = fork(join(import.meta.dirname, 'children', name), { execArgv });
  messages = on(child, 'message') as AsyncIterator<unknown[]>;
}

async function nextMessage(): Promise<Message> {
  const { value } = (await messages.next()) as IteratorYieldResult<[Message]>;
  return value[0];
}

function tell(what: string): Promise<Message> {
  child.send(what);
  return nextMessage();
}

afterEach(() => {
  sender.destroy();
  child.kill('SIGKILL');
});

describe('a process that blocks its event loop', () => {
  it(
    'refuses while it does, lets critical deliveries in, recovers, and ends by itself',
    async () => {
      start('blocked.js');
      const { address } = await nextMessage();
      const post = (sent?: Sent): Promise<Reply> => sender.send(address?.port ?? 0, sent).reply;
      expect((await post()).status).toBe(200);

      expect(await tell('block')).toMatchObject({ isPressed: true });
      const refused = await post();
      expect(refused.status).toBe(503);
      expect(JSON.parse(refused.body)).toMatchObject({ reason: 'pressure' });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect((await post({ headers: { 'X-Priority': 'critical' } })).status).toBe(200);

      expect(await tell('calm')).toMatchObject({ isPressed: false });
      expect((await post()).status).toBe(200);

      // Nobody closes what measures, and it does not keep the process.
      child.send('end');
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
    PATIENCE_MS,
  );
});

describe('a process that was idle for long', () => {
  it(
    'sees a burst within a few windows, although its loop was hardly used since it started',
    async () => {
      start('idle-then-busy.js');
      const { turns, readings } = await nextMessage();
      // Two windows are 40 turns. A burst of 400 would be half of all the time since the start.
      expect(turns).toBeLessThan(400);
      expect(readings?.eventLoopUtilization).toBeGreaterThan(0.98);
    },
    PATIENCE_MS,
  );
});

describe('a process whose heap is full', () => {
  it(
    'knows it from its full collections, and when it is empty again as well',
    async () => {
      // The limit counts both, and what is young gets more by default from one Node to the next.
      start('collecting.js', '--expose-gc', '--max-old-space-size=96', '--max-semi-space-size=16');
      await nextMessage();
      const full = await tell('fill');
      expect(full).toMatchObject({ isPressed: true });
      expect(full.readings?.heapFraction).toBeGreaterThan(0.4);
      const empty = await tell('empty');
      expect(empty).toMatchObject({ isPressed: false });
      expect(empty.readings?.heapFraction).toBeLessThan(0.36);
    },
    PATIENCE_MS,
  );
});
