import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../demo/src/postgres-server.ts';
import { crashTransactions, type TransactionOutcome, type TransactionSettings } from './transaction-crashes.ts';

/** Of both halves on both stores. */
const kills = Math.ceil(Number(process.env['CRASH_KILLS'] ?? 24) / 4);
const seed = Number(process.env['CRASH_SEED'] ?? 1);
const SECONDS_PER_KILL = 6;

const server = await startPostgres().catch((error: unknown) => String(error));
if (typeof server === 'string')
  console.warn(`SKIPPED: the crashes of transactions on PostgreSQL, because no server starts here.\n${server}`);
const folder = mkdtempSync(join(tmpdir(), 'wbp-transactions-'));

afterAll(async () => {
  if (typeof server !== 'string') await server.stop();
  rmSync(folder, { recursive: true });
});

describe.each(['complete', 'send'] as const)(`transactions with %s, killed with the seed ${String(seed)}`, (half) => {
  const outcomes: [store: string, outcome: TransactionOutcome][] = [];

  beforeAll(
    async () => {
      const startedAt = performance.now();
      const crash = async (name: string, store: TransactionSettings['store']): Promise<void> => {
        const log = join(folder, `${name}-${half}.log`);
        const outcome = await crashTransactions({ store, half, log }, kills, seed);
        outcomes.push([name, outcome]);
        const { made, first, next, twice, unfinished } = outcome.last;
        console.log(
          `${half} on ${name}: kills ${String(kills)}, seed ${String(seed)}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s; ` +
            `made ${String(made)}, effects ${String(first + next)}, arrived ${String(outcome.arrived.size)}; ` +
            `half-commits ${String(outcome.halves.length)}, twice ${String(twice)}, unfinished ${String(unfinished)}`,
        );
      };
      await Promise.all([
        crash('SQLite', { path: join(folder, `${half}.db`) }),
        ...(typeof server === 'string'
          ? []
          : [crash('PostgreSQL', { connectionString: server.connectionString, schema: `crash_${half}` })]),
      ]);
    },
    (kills + 10) * SECONDS_PER_KILL * 1000,
  );

  it('never commits a part of a transaction', () => {
    for (const [, { halves }] of outcomes) expect(halves).toEqual([]);
  });

  it('has every effect once, and loses none', () => {
    for (const [, { last, made, arrived }] of outcomes) {
      expect(made.size).toBeGreaterThan(0);
      expect(last).toMatchObject({ twice: 0, unfinished: 0, made: made.size });
      if (half === 'send') expect([...arrived].sort()).toEqual([...made].sort());
      else expect(last).toMatchObject({ first: made.size, next: made.size });
    }
  });
});
