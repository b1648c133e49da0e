import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../demo/src/postgres-server.ts';
import { checkHistory } from '@webhook-backpressure/core/testing';
import { FleetCrashes, RECEIVERS, SETTINGS, WORKERS, type FleetOutcome } from './postgres-crashes.ts';

const of = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const kills = of('CRASH_KILLS', 2);
const stops = of('CRASH_STOPS', 1);
const partitionMs = of('CRASH_PARTITION_MS', 1000);
const seed = of('CRASH_SEED', 1);
const SECONDS_PER_KILL = 6;

const begun = await startPostgres().catch((error: unknown) => String(error));
if (typeof begun === 'string')
  console.warn(`SKIPPED: the crashes with PostgreSQL, because no server starts here.\n${begun}`);

const title = `${String(RECEIVERS)} receivers and ${String(WORKERS)} workers on PostgreSQL, ${String(kills)} kills and ${String(stops)} stops of the server, with the seed ${String(seed)}`;

describe.skipIf(typeof begun === 'string')(title, () => {
  const server = begun as PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), 'wbp-crash-'));
  let outcome: FleetOutcome;

  beforeAll(
    async () => {
      const startedAt = performance.now();
      const log = join(folder, 'handled.log');
      outcome = await new FleetCrashes({ server, log, kills, stops, partitionMs, seed }).run();
      const { sender, stored, explained } = outcome;
      const { perKill, perPartition, perStop, unexplained } = explained;
      console.log(
        [
          `kills ${String(kills)}, stops of the server ${String(stops)}, partition ${String(partitionMs / 1000)} s, seed ${String(seed)}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
          `acknowledged ${String(sender.acknowledged.size)}, requests without an acknowledgement ${String(sender.failures)}`,
          `completions ${String(stored.completed.length)}, left ${JSON.stringify(stored.left)}, counted ${JSON.stringify(stored.counted)}`,
          `handlers begun again: at most ${String(Math.max(...perKill))} after one kill, ${perStop.join(', ')} after stops, ${perPartition.join(', ')} after the partition, ${String(unexplained.length)} without a cause`,
        ].join('\n'),
      );
    },
    (kills + 10) * SECONDS_PER_KILL * 1000 + partitionMs,
  );

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('ends no process but those that are killed', () => {
    expect(outcome.fallen).toBe(0);
  });

  it('processes every delivery that was acknowledged, and completes it once in the store', () => {
    const { sender, history, stored } = outcome;
    expect(sender.acknowledged.size).toBeGreaterThan(kills);
    expect(checkHistory(history)).toEqual([]);
    expect(stored.left).toEqual({ queue: 0, contents: 0, dead_letters: 0 });
    expect(stored.counted).toEqual({ depth: 0, bytes: 0, remembered: sender.acknowledged.size });
  });

  it('restarts no more handlers after a kill or a partition than ran concurrently, and none without a cause', () => {
    const { perKill, perPartition, perStop, unexplained } = outcome.explained;
    const { concurrency } = SETTINGS;
    expect(Math.max(...perKill, ...perPartition)).toBeLessThanOrEqual(concurrency);
    expect(Math.max(...perStop)).toBeLessThanOrEqual(concurrency * WORKERS);
    expect(unexplained).toEqual([]);
  });
});
