import { chownSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../../demo/src/postgres-server.ts';
import { isMountable, mount } from '../../sqlite/mounts.ts';
import { isSkipped } from '../bed.ts';
import { Proxy } from '../proxy.ts';
import { TroubledReceiver } from './receiver.ts';

const POSTGRES_USER = 65_534;
const release = process.env['TEST_POSTGRES'] === '15' ? 15 : undefined;

describe.skipIf(isSkipped)('a receiver on PostgreSQL', () => {
  let server: PostgresServer;
  let proxy: Proxy;
  let receiver: TroubledReceiver;
  let schemas = 0;
  let freeDisk: (() => void) | undefined;

  beforeAll(async () => {
    server = await startPostgres({ release, isDurable: false });
    proxy = await Proxy.to(server.connectionString);
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
    freeDisk?.();
  });
  beforeEach(() => {
    receiver = open();
  });
  afterEach(async () => {
    await receiver.close();
  });

  function open(): TroubledReceiver {
    schemas += 1;
    const connectionString = proxy.via(server.connectionString);
    return new TroubledReceiver(
      postgresStore({ connectionString }, { schema: `trouble_${String(schemas)}` }),
    );
  }

  /** Runs statements as an administrator, who may write although the server is read-only. */
  async function administer(...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: server.connectionString });
    await client.connect();
    await client.query('SET default_transaction_read_only = off');
    try {
      for (const one of statements) await client.query(one);
    } finally {
      await client.end();
    }
  }

  it('loses nothing when the server is stopped without a checkpoint, and works when it runs again', async () => {
    await receiver.deliver('a');
    await receiver.inbox.pause();
    const acknowledged: string[] = [];
    const sending = Array.from({ length: 40 }, async (_, at) => {
      const id = `before-${String(at)}`;
      if ((await receiver.send(id)) < 300) acknowledged.push(id);
    });
    // In the middle of them.
    await receiver.until(() => receiver.of('stored').length > 1);
    await server.crash();
    await Promise.all(sending);
    expect(await receiver.send('b')).toBe(503);
    expect(receiver.codes).toContain('ERR_WBP_POSTGRES_UNAVAILABLE');
    await server.restart();
    await receiver.deliver('b');
    await receiver.inbox.resume();
    await receiver.completed('a', 'b', ...acknowledged);
    expect(receiver.of('store-recovered')).not.toEqual([]);
    expect(new Set(receiver.codes)).toEqual(new Set(['ERR_WBP_POSTGRES_UNAVAILABLE']));
  });

  it('opens when the server starts after it', async () => {
    await server.crash();
    const late = open();
    expect(await late.send('a')).toBe(503);
    expect(await late.failed('open')).toContain('Connection terminated');
    await server.restart();
    await late.deliver('a');
    await late.completed('a');
    await late.close();
  });

  it('closes while the server is stopped', async () => {
    await receiver.deliver('a');
    await receiver.completed('a');
    await server.crash();
    await receiver.close();
    await server.restart();
  });

  it('refuses deliveries while the server is read-only, and asks for another connection each time', async () => {
    await receiver.deliver('a');
    await receiver.completed('a');
    await administer('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
    let stored = 0;
    // The server reads its settings in a moment.
    while ((await receiver.send(`b-${String(stored)}`)) < 300) stored += 1;
    expect(await receiver.failed('put')).toContain('read-only transaction');
    expect(receiver.codes).toContain('ERR_WBP_POSTGRES_UNAVAILABLE');
    const { connections } = proxy;
    await receiver.until(() => receiver.of('store-failed').length > 3);
    expect(proxy.connections).toBeGreaterThan(connections);
    await administer('ALTER SYSTEM RESET default_transaction_read_only', 'SELECT pg_reload_conf()');
    await receiver.deliver('c');
    await receiver.completed('a', 'c', ...Array.from({ length: stored }, (_, at) => `b-${String(at)}`));
  });

  it('opens when a read-only server is a primary again', async () => {
    await administer('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
    const late = open();
    expect(await late.failed('open')).toContain('read-only transaction');
    expect(await late.send('a')).toBe(503);
    await administer('ALTER SYSTEM RESET default_transaction_read_only', 'SELECT pg_reload_conf()');
    await late.deliver('a');
    await late.completed('a');
    await late.close();
  });

  it('refuses deliveries while the disk is full, and works when there is space', async ({ skip }) => {
    skip(!isMountable, 'this system does not allow mounts');
    const folder = mkdtempSync(join(tmpdir(), 'wbp-full-'));
    const unmount = mount(folder, 32);
    freeDisk = () => {
      unmount();
      rmSync(folder, { recursive: true });
    };
    chownSync(folder, POSTGRES_USER, POSTGRES_USER);
    await administer(
      `CREATE TABLESPACE small LOCATION '${folder}'`,
      'ALTER DATABASE postgres SET default_tablespace = small',
    );
    const filled = open();
    await filled.deliver('a');
    await filled.completed('a');
    const filler = join(folder, 'filler');
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(filler, new Uint8Array(bavail * bsize));
    const body = JSON.stringify(Array.from({ length: 50_000 }, () => Math.random()));
    expect(await filled.send('b', body)).toBe(503);
    expect(await filled.failed('put')).toContain('No space left on device');
    expect(new Set(filled.codes)).toEqual(new Set(['ERR_WBP_POSTGRES_UNAVAILABLE']));
    rmSync(filler);
    await filled.deliver('b', body);
    await filled.completed('a', 'b');
    expect(filled.of('duplicate')).toEqual([]);
    await filled.close();
    await administer('ALTER DATABASE postgres RESET default_tablespace');
  });
});
