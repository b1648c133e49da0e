import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { InboxOptions } from '@webhook-backpressure/inbox';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { START } from '../store/cases/store-fixtures.ts';

const DAY_MS = 86_400_000;
const KEY = randomBytes(32);
const encrypt = { keys: { new: KEY } };
const retry = { attempts: 2, firstDelayMs: 1000, maxDelayMs: 1000 };

let state: MemoryState;

/** The process that encrypted the deliveries has ended. */
beforeEach(async () => {
  state = new MemoryState();
  const store = new MemoryStore(state);
  const before = new InboxBench({ store, encrypt, process: () => new Promise(() => undefined) });
  for (let at = 0; at < 12; at += 1) await before.deliver(String(at));
  const closing = before.inbox.close({ timeoutMs: 0 });
  await turns();
  before.clock.advance(0);
  await closing;
});

function bench(options: Partial<InboxOptions> = {}, wallOffsetMs: number = START): InboxBench {
  return new InboxBench({ store: new MemoryStore(state), retry, ...options }, wallOffsetMs);
}

async function closed({ inbox, clock }: InboxBench): Promise<void> {
  const closing = inbox.close({ timeoutMs: 0 });
  await turns();
  clock.advance(0);
  await closing;
}

/** Decryption takes real time in the thread pool, so no number of steps of the manual clock is enough. */
async function allDead(workers: InboxBench): Promise<void> {
  while (state.stats().deadLetters < 12) {
    await workers.advance(1000);
    await setImmediate();
  }
}

describe('workers without the key of a delivery', () => {
  it('use up none of its attempts, and report no outage', async () => {
    const without = bench();
    for (let at = 0; at < 60; at += 1) await without.advance(1000);
    expect(state.stats()).toMatchObject({ deadLetters: 0, depth: 12 });
    const failed = without.events.filter((event) => event.type === 'failed');
    expect(failed.length).toBeGreaterThan(12 * 20);
    expect(
      new Set(failed.map(({ attempt, isCounted }) => `${String(attempt)} ${String(isCounted)}`)),
    ).toEqual(new Set(['1 false']));
    expect(without.told('outage', 'dead')).toEqual([]);
    await closed(without);
  });

  it('leave it to workers that have the key', async () => {
    const without = bench();
    for (let at = 0; at < 10; at += 1) await without.advance(1000);
    await closed(without);
    const handled: number[] = [];
    const process = (_: unknown, { attempt }: { readonly attempt: number }): void =>
      void handled.push(attempt);
    const withKey = bench({ encrypt, process, maxHandlingMs: 86_400_000 });
    // WebCrypto decrypts in other threads, in its own time: on a busy machine, hours of the manual clock may pass.
    while (handled.length < 12) {
      await withKey.advance(100);
      await setImmediate();
    }
    expect(handled).toEqual(Array.from({ length: 12 }, () => 1));
    await closed(withKey);
  });

  it('look for it more rarely as it gets older, at most once in a minute', async () => {
    const without = bench({ retry: { attempts: 2, firstDelayMs: 1000, maxDelayMs: DAY_MS } });
    for (let at = 0; at < 600; at += 1) await without.advance(1000);
    const delays = without.events.flatMap((event) =>
      event.type === 'failed' && event.id === '0' ? [event.retryInMs] : [],
    );
    expect(Math.min(...delays)).toBeLessThan(1000);
    expect(Math.max(...delays)).toBe(45_000);
    expect(delays.length).toBeLessThan(25);
    await closed(without);
  });

  it('use up its attempts after three days, since the key may be gone for ever', async () => {
    const passed: string[] = [];
    const onDead: InboxOptions['onDead'] = ({ id, text }) => void passed.push(`${id}:${text()}`);
    const without = bench({ onDead }, START + 3 * DAY_MS);
    await allDead(without);
    await turns();
    expect(state.stats()).toMatchObject({ deadLetters: 12, depth: 0 });
    expect(without.told('outage')).toEqual([]);
    // Without their contents.
    expect(passed.sort()).toEqual(Array.from({ length: 12 }, (_, at) => `${String(at)}:`).sort());
    await closed(without);
  });

  it('report that its handler took no time, however long they tried to decrypt it', async () => {
    let fail: (error: Error) => void = () => undefined;
    const decrypt = vi.spyOn(crypto.subtle, 'decrypt').mockImplementation(
      () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    );
    const workers = bench({ encrypt, concurrency: 1 });
    while (decrypt.mock.calls.length === 0) await turns(1);
    workers.clock.advance(40);
    fail(new Error('damaged'));
    while (workers.told('failed').length === 0) await turns(1);
    decrypt.mockRestore();
    expect(workers.events.find(({ type }) => type === 'failed')).toMatchObject({ tookMs: 0 });
    await closed(workers);
  });

  it('count an attempt whose stored data has changed', async () => {
    const without = bench({ encrypt: { keys: { new: randomBytes(32) } } });
    await allDead(without);
    expect(state.stats()).toMatchObject({ deadLetters: 12, depth: 0 });
    await closed(without);
  });
});
