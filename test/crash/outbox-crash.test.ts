import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkHistory } from '@webhook-backpressure/core/testing';
import { crashOutbox, type OutboxOutcome, sentHistory } from './outbox-crashes.ts';
import { readFile, rememberedOf, type StoredInFile } from './sqlite-audit.ts';

const most = Number(process.env['CRASH_KILLS'] ?? 2);
const seed = Number(process.env['CRASH_SEED'] ?? 1);
const SECONDS_PER_KILL = 6;

describe.each([
  ['a sender', 1, most],
  // With fewer kills, none would have sent anything.
  ['one of two senders', 2, Math.max(2, Math.ceil(most / 2))],
])(`%s that is killed again and again, with the seed ${String(seed)}`, (name, processes, kills) => {
  // On a real disk, which the commits have to reach.
  const folder = mkdtempSync(join(tmpdir(), 'wbp-outbox-'));
  const file = join(folder, 'outbox.db');
  let outcome: OutboxOutcome;
  let stored: StoredInFile;

  beforeAll(
    async () => {
      const startedAt = performance.now();
      outcome = await crashOutbox({
        store: { path: file },
        log: join(folder, 'sent.log'),
        kills,
        seed,
        processes,
      });
      stored = readFile(file);
      const { endpoint, accepted } = outcome;
      console.log(
        [
          `${name}, kills ${String(kills)}, seed ${String(seed)}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
          `accepted ${String(accepted.length)}, requests ${String(endpoint.requests)}`,
          `completed ${String(stored.completed.length)}, unfinished ${String(stored.unfinished)}, dead letters ${String(stored.deadLetters.length)}`,
          `integrity check: ${stored.integrity}`,
        ].join('\n'),
      );
    },
    (kills + 10) * SECONDS_PER_KILL * 1000,
  );

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('delivers every event that it accepted, and repeats only requests of a sender that was killed', () => {
    expect(outcome.accepted.length).toBeGreaterThan(kills);
    expect(checkHistory(sentHistory(outcome, { ...stored, hashOf: rememberedOf }))).toEqual([]);
    expect(stored).toMatchObject({ unfinished: 0, deadLetters: [], integrity: 'ok' });
  });

  it('signs every request, and keeps the id of an event', () => {
    expect(outcome.endpoint.wrong).toEqual([]);
  });
});
