import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../demo/src/postgres-server.ts';
import {
  crashTransactions,
  type TransactionOutcome,
  type TransactionSettings,
} from './transaction-crashes.ts';

/** Of both halves on both stores. */
const kills = Math.ceil(Number(process.env['CRASH_KILLS'] ?? 4) / 4);
const seed = Number(process.env['CRASH_SEED'] ?? 1);
const SECONDS_PER_KILL = 6;

const server = await startPostgres().catch((error: unknown) => String(error));
if (typeof server === 'string')
  console.warn(
    `SKIPPED: the crashes of transactions on PostgreSQL, because no server starts here.\n${server}`,
  );
const folder = mkdtempSync(join(tmpdir(), 'wbp-transactions-'));

afterAll(async () => {
  if (typeof server !== 'string') await server.stop();
  rmSync(folder, { recursive: true });
});

const stores: Record<string, TransactionSettings['store'] | undefined> = {
  SQLite: { path: folder },
  PostgreSQL:
    typeof server === 'string' ? undefined : { connectionString: server.connectionString, schema: 'crash' },
};
const halves = ['complete', 'send'] as const;
const known = Object.entries(stores).flatMap(([name, store]) =>
  store === undefined ? [] : halves.map((half) => ({ name, half, store })),
);

describe(`processes that are killed ${String(kills)} times at a step of a transaction, with the seed ${String(seed)}`, () => {
  const outcomes = new Map<string, TransactionOutcome>();

  beforeAll(
    async () => {
      const startedAt = performance.now();
      const crash = async ({ name, half, store }: (typeof known)[number]): Promise<void> => {
        const log = join(folder, `${name}-${half}.log`);
        const its =
          'path' in store ? { path: join(folder, `${half}.db`) } : { ...store, schema: `crash_${half}` };
        const outcome = await crashTransactions({ store: its, half, log }, kills, seed);
        outcomes.set(`${half} on ${name}`, outcome);
        const { made, first, next, twice, unfinished } = outcome.last;
        console.log(
          `${half} on ${name}: ${String(kills)} kills, ${((performance.now() - startedAt) / 1000).toFixed(1)} s; ` +
            `made ${String(made)}, effects ${String(first + next)}, arrived ${String(outcome.arrived.size)}; ` +
            `half-commits ${String(outcome.halves.length)}, twice ${String(twice)}, unfinished ${String(unfinished)}`,
        );
      };
      await Promise.all(known.map(crash));
    },
    (kills + 10) * SECONDS_PER_KILL * 1000,
  );

  describe.each(known)('with $half on $name', ({ name, half }) => {
    const outcome = () => outcomes.get(`${half} on ${name}`) as TransactionOutcome;

    it('never commit a part of a transaction', () => {
      expect(outcome().halves).toEqual([]);
    });

    it('leave every effect once, and none out', () => {
      const { last, made, arrived } = outcome();
      expect(made.size).toBeGreaterThan(0);
      expect(last).toMatchObject({ twice: 0, unfinished: 0, made: made.size });
      if (half === 'send') expect([...arrived].sort()).toEqual([...made].sort());
      else expect(last).toMatchObject({ first: made.size, next: made.size });
    });
  });
});
