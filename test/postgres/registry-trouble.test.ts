import pg from 'pg';
import type { FleetBeat, FleetRegistry } from '@webhook-backpressure/fleet';
import { postgresRegistry, postgresSchema } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectSharing } from '../core/fleet/real-registry.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { Proxy } from './proxy.ts';

function beatOf(member: string, number = 1): FleetBeat {
  return { resource: 'db', member, number, state: '{}', news: '', seen: {} };
}

async function membersOf(registry: FleetRegistry, member: string, number = 1): Promise<string[]> {
  const { members } = await registry.beat(beatOf(member, number));
  return members.map((one) => one.member).sort();
}

describe.skipIf(isSkipped)('postgresRegistry', () => {
  let bed: PostgresBed;
  const pools: pg.Pool[] = [];

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
    await bed.dispose();
  });

  function pool(options: pg.PoolConfig = {}): pg.Pool {
    const created = new pg.Pool({ connectionString: bed.connectionString, max: 1, ...options });
    created.on('error', () => undefined);
    pools.push(created);
    return created;
  }

  it('shares a limit among members whose clocks differ by hours', async () => {
    const { schema } = bed;
    await expectSharing([1, 2, 3, 4].map(() => postgresRegistry(pool(), { schema })));
  });

  it('rejects while connections break, and works with the next one', async () => {
    const { schema } = bed;
    const proxy = await Proxy.to(bed.connectionString);
    const registry = postgresRegistry(pool({ connectionString: proxy.via(bed.connectionString) }), {
      schema,
    });
    await registry.beat(beatOf('a'));
    const cut = proxy.cut('before-answer', 'fleet_beat_v1');
    await expect(registry.beat(beatOf('a', 2))).rejects.toMatchObject({
      code: 'ERR_WBP_POSTGRES_UNAVAILABLE',
    });
    await cut;
    expect(await membersOf(registry, 'a', 3)).toEqual(['a']);
    await Promise.all(pools.splice(0).map((one) => one.end()));
    await proxy.close();
  });

  it('rejects while its schema is away, and does not create another one, which stores would use', async () => {
    const { schema } = bed;
    const registry = postgresRegistry(pool(), { schema });
    await registry.beat(beatOf('a'));
    await bed.pool.query(`ALTER SCHEMA ${schema} RENAME TO ${schema}_away`);
    for (const number of [2, 3])
      await expect(registry.beat(beatOf('a', number))).rejects.toMatchObject({
        code: 'ERR_WBP_POSTGRES_SETUP',
      });
    await bed.pool.query(`ALTER SCHEMA ${schema}_away RENAME TO ${schema}`);
    expect(await membersOf(registry, 'a', 4)).toEqual(['a']);
  });

  it('works for a user who may not create tables, when they were printed', async () => {
    const { schema } = bed;
    const user = `${schema}_member`;
    await bed.pool.query(`CREATE ROLE ${user} LOGIN`);
    const connectionString = bed.connectionString.replace('test@', `${user}@`);
    const registry = postgresRegistry(pool({ connectionString }), { schema });
    await expect(registry.beat(beatOf('a'))).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_SETUP' });
    await bed.pool.query(
      `BEGIN; ${postgresSchema(schema)} COMMIT;
      GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user};
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${user}`,
    );
    expect(await membersOf(registry, 'a')).toEqual(['a']);
    await bed.pool.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
  });

  it('rejects on a server that is read-only, and with a pool that has ended', async () => {
    const { schema } = bed;
    await postgresRegistry(pool(), { schema }).beat(beatOf('a'));
    const reading = postgresRegistry(pool({ options: '-c default_transaction_read_only=on' }), { schema });
    await expect(reading.beat(beatOf('b'))).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_UNAVAILABLE' });
    const ended = new pg.Pool({ connectionString: bed.connectionString });
    await ended.end();
    await expect(postgresRegistry(ended, { schema }).beat(beatOf('b'))).rejects.toMatchObject({
      code: 'ERR_WBP_POSTGRES_UNAVAILABLE',
    });
  });

  it('uses nothing that belongs to a session: a pooler may run each beat on another connection', async () => {
    const { schema } = bed;
    const registry = postgresRegistry(pool({ maxUses: 1 }), { schema });
    await registry.beat(beatOf('a'));
    expect(await membersOf(registry, 'b')).toEqual(['a', 'b']);
    const { rows } = await bed.pool.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = hashtext($1)::oid`,
      [`webhook-backpressure fleet:${schema}`],
    );
    expect(rows).toEqual([]);
  });

  it('rejects what is no pool', () => {
    expect(() => postgresRegistry('postgres://localhost' as never)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_POSTGRES_CONNECTION' }),
    );
    expect(() => postgresRegistry(pool(), { schema: 'A' })).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_POSTGRES_SCHEMA' }),
    );
  });
});
