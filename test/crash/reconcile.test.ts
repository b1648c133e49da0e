import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkHistory, type HistoryEvent } from '@webhook-backpressure/core/testing';
import { historyOf, readLog } from './handler-log.ts';
import { missEvents, type Outcome, SETTINGS } from './missed-events.ts';
import { readFile, rememberedOf, type StoredInFile } from './sqlite-audit.ts';

const kills = Number(process.env['CRASH_KILLS'] ?? 2);
const events = Number(process.env['CRASH_EVENTS'] ?? 72);
const seed = Number(process.env['CRASH_SEED'] ?? 1);

describe(`${String(events)} events, and a receiver that is killed ${String(kills)} times, with the seed ${String(seed)}`, () => {
  // On a real disk, which the commits have to reach.
  const folder = mkdtempSync(join(tmpdir(), 'wbp-missed-'));
  let outcome: Outcome;
  let history: HistoryEvent[];
  let stored: StoredInFile;

  beforeAll(
    async () => {
      const startedAt = performance.now();
      const file = join(folder, 'webhooks.db');
      const log = join(folder, 'handled.log');
      outcome = await missEvents({ file, log, kills, events, seed });
      stored = readFile(file);
      const acknowledged = outcome.ids.map((id) => ({ key: 'github', id }));
      const { concurrency } = SETTINGS;
      history = historyOf(readLog(log), { ...stored, acknowledged, hashOf: rememberedOf, concurrency });
      const { ids, missed, lists, gets, caughtUpMs } = outcome;
      console.log(
        [
          `events ${String(ids.length)}, not acknowledged ${String(missed)}, kills ${String(kills)}, seed ${String(seed)}`,
          `requests: ${String(lists)} lists, ${String(gets)} deliveries`,
          `caught up ${(caughtUpMs / 1000).toFixed(1)} s after the last start, at most 80 requests a second`,
          `completed ${String(stored.completed.length)}, unfinished ${String(stored.unfinished)}`,
          `handlers started ${String(history.filter(({ type }) => type === 'started').length)}`,
          `took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
        ].join('\n'),
      );
    },
    60_000 + events * 120,
  );

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('processes every event, although a third could not be delivered', () => {
    expect(outcome.ids).toHaveLength(events);
    expect(outcome.missed).toBeGreaterThanOrEqual(Math.floor(events / 3) - kills);
    expect(checkHistory(history)).toEqual([]);
    expect(stored).toMatchObject({ unfinished: 0, deadLetters: [], integrity: 'ok' });
  });

  it('fetches no delivery again that an earlier life has added', () => {
    // One is in progress when a process is killed.
    expect(outcome.gets).toBeLessThanOrEqual(outcome.missed + kills);
  });
});
