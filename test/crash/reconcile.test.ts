import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Handled, mostRepeatsOfALife, readLog } from './handler-log.ts';
import { missEvents, type Outcome, SETTINGS } from './missed-events.ts';
import { readFile, rememberedOf, type StoredInFile } from './sqlite-audit.ts';

const kills = Number(process.env['CRASH_KILLS'] ?? 2);
const events = Number(process.env['CRASH_EVENTS'] ?? 72);
const seed = Number(process.env['CRASH_SEED'] ?? 1);

describe(`${String(events)} events, and a receiver that is killed ${String(kills)} times, with the seed ${String(seed)}`, () => {
  // On a real disk, which the commits have to reach.
  const folder = mkdtempSync(join(tmpdir(), 'wbp-missed-'));
  let outcome: Outcome;
  let handled: Handled;
  let stored: StoredInFile;

  beforeAll(
    async () => {
      const startedAt = performance.now();
      const file = join(folder, 'webhooks.db');
      const log = join(folder, 'handled.log');
      outcome = await missEvents({ file, log, kills, events, seed });
      handled = readLog(log);
      stored = readFile(file);
      const { ids, missed, lists, gets, caughtUpMs } = outcome;
      console.log(
        [
          `events ${String(ids.length)}, not acknowledged ${String(missed)}, kills ${String(kills)}, seed ${String(seed)}`,
          `requests: ${String(lists)} lists, ${String(gets)} deliveries`,
          `caught up ${(caughtUpMs / 1000).toFixed(1)} s after the last start, at most 80 requests a second`,
          `completed ${String(stored.completed.length)}, unfinished ${String(stored.unfinished)}`,
          `handlers begun again ${String(handled.repeats.length)}, at most ${String(mostRepeatsOfALife(handled))} after one kill`,
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
    expect(outcome.ids.filter((id) => !handled.ended.has(id))).toEqual([]);
  });

  it('completes each event once in the store', () => {
    const remembered = outcome.ids.map((id) => rememberedOf({ key: 'github', id }));
    expect([...stored.completed].sort()).toEqual(remembered.sort());
    expect(stored).toMatchObject({ unfinished: 0, deadLetters: [], integrity: 'ok' });
  });

  it('handles no event again that was completed', () => {
    // Only what was running when a process was killed.
    expect(mostRepeatsOfALife(handled)).toBeLessThanOrEqual(SETTINGS.concurrency);
  });

  it('fetches no delivery again that an earlier life has added', () => {
    // One is in progress when a process is killed.
    expect(outcome.gets).toBeLessThanOrEqual(outcome.missed + kills);
  });
});
