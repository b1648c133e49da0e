import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CloseReport } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivery, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { Scratch } from '../sqlite/scratch.ts';

interface Message {
  readonly address?: AddressInfo;
  readonly opened?: true;
  readonly started?: string;
  readonly handled?: string;
  readonly closed?: CloseReport;
}

/** A receiver or workers in a separate process, and its messages. */
class Tier {
  readonly said: Message[] = [];
  readonly exit: Promise<unknown[]>;
  readonly #process: ChildProcess;

  constructor(role: 'receiver' | 'worker', path: string, tookMs = 0) {
    const script = join(import.meta.dirname, 'children/tier.js');
    this.#process = fork(script, [role, path, String(tookMs)], { execArgv: [] });
    this.#process.on('message', (message: Message) => this.said.push(message));
    this.exit = once(this.#process, 'exit');
  }

  /** Resolves with the messages of this kind when there are so many; rejects if the process ends before. */
  async heard<K extends keyof Message>(kind: K, count = 1): Promise<NonNullable<Message[K]>[]> {
    const all = (): NonNullable<Message[K]>[] => this.said.flatMap(({ [kind]: one }) => one ?? []);
    while (all().length < count) {
      const over = new AbortController();
      const message = once(this.#process, 'message', { signal: over.signal });
      message.catch(() => undefined);
      const ended = this.exit.then(([code, signal]) => {
        throw new Error(`The process ended by itself: ${String(code)} ${String(signal)}`);
      });
      await Promise.race([message, ended]).finally(() => {
        over.abort();
      });
    }
    return all();
  }

  terminate(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.#process.kill(signal);
  }
}

let scratch: Scratch;
let tiers: Tier[];
beforeEach(() => {
  scratch = new Scratch();
  tiers = [];
});
afterEach(async () => {
  for (const tier of tiers) {
    tier.terminate('SIGKILL');
    await tier.exit;
  }
  scratch.dispose();
});

function start(role: 'receiver' | 'worker', tookMs?: number): Tier {
  const tier = new Tier(role, scratch.file(), tookMs);
  tiers.push(tier);
  return tier;
}

/** Stores deliveries as a process that ends immediately afterwards. */
async function store(...ids: string[]): Promise<void> {
  const one = sqliteStore({ path: scratch.file() });
  await one.open(START);
  await put(
    one,
    ids.map((id) => delivery(id)),
  );
  await one.close(START);
}

describe('a process with workers alone', () => {
  it('stays alive while nothing is stored, and handles what is stored later', async () => {
    const worker = start('worker');
    await worker.heard('opened');
    await store('a');
    expect(await worker.heard('handled')).toEqual(['a']);
  });

  it('finishes on SIGTERM what it has begun, and ends by the signal', async () => {
    await store('a', 'b');
    const worker = start('worker', 300);
    await worker.heard('started', 2);
    worker.terminate();
    expect((await worker.exit)[1]).toBe('SIGTERM');
    expect(await worker.heard('handled', 2)).toHaveLength(2);
    expect(await worker.heard('closed')).toMatchObject([{ completed: 2, remaining: 0 }]);
    const after = sqliteStore({ path: scratch.file() });
    expect(await after.open(START)).toMatchObject({ depth: 0, drained: 2 });
    await after.close(START);
  });
});

describe('a process that receives alone', () => {
  it('loses nothing that it acknowledges while SIGTERM ends it, beside workers on the same file', async () => {
    const [worker, receiver] = [start('worker'), start('receiver')];
    const [address] = await receiver.heard('address');
    const url = `http://127.0.0.1:${String(address?.port)}/`;
    const acknowledged: string[] = [];
    const others = new Set<number>();
    const send = async (sender: number): Promise<void> => {
      for (let at = 0; ; at += 1) {
        const id = `${String(sender)}-${String(at)}`;
        const headers = { 'webhook-id': id };
        const answer = await fetch(url, { method: 'POST', headers, body: '{}' }).catch(() => undefined);
        if (answer === undefined) return;
        await answer.text().catch(() => undefined);
        if (answer.status === 200) acknowledged.push(id);
        else others.add(answer.status);
        if (acknowledged.length === 200) receiver.terminate();
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, sender) => send(sender)));
    expect((await receiver.exit)[1]).toBe('SIGTERM');
    expect(acknowledged.length).toBeGreaterThanOrEqual(200);
    expect([...others].filter((status) => status !== 503)).toEqual([]);
    // More, if the answer to a delivery was lost.
    const handled = new Set<string>();
    for (let count = acknowledged.length; acknowledged.some((id) => !handled.has(id)); count += 1) {
      const all = await worker.heard('handled', count);
      for (const id of all) handled.add(id);
      expect(handled.size).toBe(all.length);
    }
  });
});
