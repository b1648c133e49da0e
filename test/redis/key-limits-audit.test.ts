import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { TokenLevel } from '@webhook-backpressure/fleet';
import { describe, expect, it } from 'vitest';
import { delivery, put } from '../core/inbox/store/cases/store-fixtures.ts';
import { isLong } from '../long.ts';
import { isSkipped, PostgresBed } from '../postgres/bed.ts';
import { isRedisSkipped, redisPrefix, redisUrl } from './bed.ts';
import { LIMITED_KEYS } from './children/limited-keys.js';

const PROCESSES = 4;
const KILLS = isLong ? 60 : 2;
const BETWEEN_KILLS_MS = 1000;
/** More than can be handled, also on a machine on which a process takes seconds to start. */
const BACKLOG = 6000 * Math.ceil((KILLS + 2) / 8);
const RECORD_BYTES = 16;
const SECOND_US = 1_000_000;

interface Step {
  readonly key: string;
  readonly isStart: boolean;
  readonly atUs: number;
}

/** What a process wrote. Handlers that it had begun ended when it was killed. */
function stepsIn(file: string, endedUs: number): Step[] {
  const bytes = readFileSync(file);
  const keys = Object.keys(LIMITED_KEYS);
  const running = new Map<string, number>();
  const steps: Step[] = [];
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const key = keys[bytes.readUInt32LE(at)] as string;
    const isStart = bytes.readUInt32LE(at + 4) === 1;
    running.set(key, (running.get(key) ?? 0) + (isStart ? 1 : -1));
    steps.push({ key, isStart, atUs: bytes.readDoubleLE(at + 8) });
  }
  for (const [key, count] of running)
    for (let left = count; left > 0; left -= 1) steps.push({ key, isStart: false, atUs: endedUs });
  return steps;
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

describe.skipIf(isSkipped || isRedisSkipped)('limits of keys over four processes that are killed', () => {
  it('are never exceeded, and used', async () => {
    const bed = new PostgresBed();
    const store = bed.store();
    const nowMs = Date.now();
    await store.open(nowMs);
    const limits = { capacity: 1e6, maxBytes: 1 << 30, maxDeadLetters: 1, maxDeadLetterBytes: 1 };
    for (const key of Object.keys(LIMITED_KEYS))
      for (let at = 0; at < (key === 'slow' || key === 'minutes' ? 1000 : BACKLOG); at += 500)
        await put(
          store,
          Array.from({ length: 500 }, (_, of) => delivery(String(at + of), { key })),
          { nowMs, limits },
        );
    const folder = mkdtempSync(join(tmpdir(), 'wbp-limits-'));
    const prefix = redisPrefix();
    const child = join(import.meta.dirname, 'children/limited-worker.js');
    const files: { name: string; endedUs: number }[] = [];
    const running: { process: ChildProcess; file: { endedUs: number } }[] = [];
    const start = async (): Promise<void> => {
      const file = { name: join(folder, String(files.length)), endedUs: 0 };
      files.push(file);
      const values = [bed.connectionString, bed.schema, redisUrl, prefix, file.name];
      const started = fork(child, values, { execArgv: [] });
      running.push({ process: started, file });
      await once(started, 'message');
    };
    const kill = async (count: number): Promise<void> => {
      for (const { process: killed, file } of running.splice(0, count)) {
        const exit = once(killed, 'exit');
        killed.kill('SIGKILL');
        // Its exit is reported later than PostgreSQL reports it to the other processes.
        file.endedUs = nowUs();
        await exit;
      }
    };
    try {
      await Promise.all(Array.from({ length: PROCESSES }, start));
      const beganUs = nowUs();
      for (let at = 0; at < KILLS; at += 1) {
        await setTimeout(BETWEEN_KILLS_MS);
        await kill(1);
        await start();
      }
      await setTimeout(BETWEEN_KILLS_MS);
      const seconds = (nowUs() - beganUs) / SECOND_US;
      await kill(PROCESSES);
      const steps = files.flatMap(({ name, endedUs }) => stepsIn(name, endedUs));
      steps.sort((a, b) => a.atUs - b.atUs || Number(a.isStart) - Number(b.isStart));
      const findings: Record<string, unknown> = {};
      for (const [key, { perSecond, perMinute, burst = 1, maxConcurrent }] of Object.entries(LIMITED_KEYS)) {
        const own = steps.filter((step) => step.key === key);
        const starts = own.filter(({ isStart }) => isStart).map(({ atUs }) => atUs);
        let [inFlight, most] = [0, 0];
        for (const { isStart } of own) {
          inFlight += isStart ? 1 : -1;
          most = Math.max(most, inFlight);
        }
        if (maxConcurrent !== undefined) expect([key, most]).toEqual([key, Math.min(most, maxConcurrent)]);
        // More than enough was stored.
        expect(starts.length).toBeLessThan(BACKLOG);
        const rate = perSecond ?? (perMinute === undefined ? undefined : perMinute / 60);
        if (rate === undefined) {
          findings[key] = { starts: starts.length, most };
          continue;
        }
        const windowUs = perMinute === undefined ? SECOND_US : 60 * SECOND_US;
        const allowed = burst + Math.floor((rate * windowUs) / SECOND_US);
        const worst = Math.max(
          ...starts.map((from, at) => starts.slice(at).filter((atUs) => atUs <= from + windowUs).length),
        );
        expect([key, worst]).toEqual([key, Math.min(worst, allowed)]);
        const level = new TokenLevel({ amount: rate * 60, periodMs: 60_000, burst }, (starts[0] ?? 0) / 1000);
        const excess = starts.filter((atUs) => level.take(1, atUs / 1000) === 0).length;
        findings[key] = {
          starts: starts.length,
          worstOfAllowed: Number((worst / allowed).toFixed(3)),
          used: Number((starts.length / (rate * seconds + burst)).toFixed(3)),
          excess,
          most,
        };
      }
      console.log(JSON.stringify({ kills: KILLS, seconds: Math.round(seconds), ...findings }));
    } finally {
      await kill(running.length);
      rmSync(folder, { recursive: true });
      await bed.dispose();
    }
  }, 180_000);
});
