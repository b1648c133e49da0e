import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idHash } from '../../packages/postgres/src/records/records.ts';
import { startPostgres, type PostgresServer } from '../../demo/src/postgres-server.ts';
import { checkHistory } from '@webhook-backpressure/core/testing';
import { crashOutbox, type OutboxOutcome, sentHistory } from './outbox-crashes.ts';

const kills = Number(process.env['CRASH_KILLS'] ?? 2);
const seed = Number(process.env['CRASH_SEED'] ?? 1);
const SECONDS_PER_KILL = 6;

const begun = await startPostgres().catch((error: unknown) => String(error));
if (typeof begun === 'string')
  console.warn(`SKIPPED: the crashes of a sender on PostgreSQL, because no server starts here.\n${begun}`);

const title = `one of two senders on PostgreSQL that is killed ${String(kills)} times, with the seed ${String(seed)}`;

describe.skipIf(typeof begun === 'string')(title, () => {
  const server = begun as PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), 'wbp-outbox-'));
  let outcome: OutboxOutcome;
  let remembered: readonly string[];
  let left: number;

  beforeAll(
    async () => {
      const startedAt = performance.now();
      const { connectionString } = server;
      outcome = await crashOutbox({
        store: { connectionString },
        log: join(folder, 'sent.log'),
        kills,
        seed,
        processes: 2,
      });
      const pool = new pg.Pool({ connectionString, max: 1 });
      const ids = await pool.query<{ hash: string }>(
        'SELECT hash::text FROM webhook_inbox.ids WHERE completed_ms IS NOT NULL',
      );
      const queue = await pool.query('SELECT 1 FROM webhook_inbox.queue');
      await pool.end();
      remembered = ids.rows.map(({ hash }) => hash.replaceAll('-', ''));
      left = queue.rows.length;
      const { endpoint, accepted } = outcome;
      console.log(
        [
          `kills ${String(kills)}, seed ${String(seed)}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
          `accepted ${String(accepted.length)}, requests ${String(endpoint.requests)}`,
          `completed ${String(remembered.length)}, unfinished ${String(left)}`,
        ].join('\n'),
      );
    },
    (kills + 10) * SECONDS_PER_KILL * 1000,
  );

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('delivers every event that it accepted, with its signature and its id', () => {
    const { endpoint, accepted } = outcome;
    expect(accepted.length).toBeGreaterThan(kills);
    expect(endpoint.wrong).toEqual([]);
    expect(left).toBe(0);
  });

  it('completes each event once, and repeats only requests of a sender that was killed', () => {
    expect(checkHistory(sentHistory(outcome, { completed: remembered, hashOf: idHash }))).toEqual([]);
  });
});
