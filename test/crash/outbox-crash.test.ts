import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mostRepeatsOfALife } from './handler-log.ts';
import { crashOutbox, ENDPOINTS, IN_FLIGHT, needlessRepeats, type OutboxOutcome } from './outbox-crashes.ts';
import { readFile, rememberedOf, type StoredInFile } from './sqlite-audit.ts';

const most = Number(process.env['CRASH_KILLS'] ?? 5);
const seed = Number(process.env['CRASH_SEED'] ?? 1);
const SECONDS_PER_KILL = 6;

describe.each([
  ['a sender', 1, most],
  ['one of two senders', 2, Math.ceil(most / 2)],
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
      const repeats = endpoint.repeats();
      console.log(
        [
          `${name}, kills ${String(kills)}, seed ${String(seed)}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
          `accepted ${String(accepted.size)}, delivered ${String(endpoint.arrivals.size)}, requests ${String(endpoint.requests)}`,
          `completed ${String(stored.completed.length)}, unfinished ${String(stored.unfinished)}, dead letters ${String(stored.deadLetters.length)}`,
          `requests repeated ${String(repeats.length)}, at most ${String(mostRepeatsOfALife({ repeats }))} after one kill`,
          `integrity check: ${stored.integrity}`,
        ].join('\n'),
      );
    },
    (kills + 10) * SECONDS_PER_KILL * 1000,
  );

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('delivers every event that it accepted', () => {
    const { endpoint, accepted } = outcome;
    expect(accepted.size).toBeGreaterThan(kills);
    expect([...accepted].filter((name) => !endpoint.arrivals.has(name))).toEqual([]);
  });

  it('signs every request, and keeps the id of an event', () => {
    expect(outcome.endpoint.wrong).toEqual([]);
  });

  it('completes each event once in the store, and leaves none unfinished', () => {
    const names = [...outcome.endpoint.arrivals.keys()].map((name) => name.split('/') as [string, string]);
    expect([...stored.completed].sort()).toEqual(names.map(([key, id]) => rememberedOf({ key, id })).sort());
    expect(stored).toMatchObject({ unfinished: 0, deadLetters: [], integrity: 'ok' });
  });

  it('repeats no more requests after a kill than were in flight, and none without a kill', () => {
    const repeats = outcome.endpoint.repeats();
    expect(mostRepeatsOfALife({ repeats })).toBeLessThanOrEqual(ENDPOINTS * IN_FLIGHT);
    expect(needlessRepeats(outcome)).toEqual([]);
  });
});
