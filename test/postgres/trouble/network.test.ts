import pg from 'pg';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSkipped, PostgresBed } from '../bed.ts';
import { Proxy } from '../proxy.ts';
import { TroubledReceiver } from './receiver.ts';

describe.skipIf(isSkipped)('a receiver on PostgreSQL whose connection is cut', () => {
  let bed: PostgresBed;
  let proxy: Proxy;
  let pool: pg.Pool;
  let receiver: TroubledReceiver;

  beforeEach(async () => {
    bed = new PostgresBed();
    proxy = await Proxy.to(bed.connectionString);
    pool = new pg.Pool({ connectionString: proxy.via(bed.connectionString), max: 6 });
    pool.on('error', () => undefined);
    const { schema } = bed;
    receiver = new TroubledReceiver(postgresStore({ pool }, { schema }));
    await receiver.deliver('first');
    await receiver.completed('first');
  });
  afterEach(async () => {
    proxy.resume();
    await receiver.close();
    await pool.end();
    await proxy.close();
    await bed.dispose();
  });

  async function stored(): Promise<number> {
    const { rows } = await bed.pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM ${bed.schema}.ids`,
    );
    return rows[0]?.count ?? 0;
  }

  it('does not acknowledge a delivery whose commit it does not know, and answers its retry as a duplicate', async () => {
    const cut = proxy.cut('before-answer', 'put_v1');
    expect(await receiver.send('a')).toBe(503);
    await cut;
    expect(receiver.codes).toContain('ERR_WBP_POSTGRES_UNAVAILABLE');
    expect(await stored()).toBe(2);
    await receiver.deliver('a');
    expect(receiver.of('duplicate').map(({ id }) => id)).toEqual(['a']);
    await receiver.completed('first', 'a');
    expect(receiver.handled).toEqual(['first', 'a']);
  });

  it('does not acknowledge a delivery that did not arrive at the server, and stores its retry', async () => {
    const cut = proxy.cut('before-arrival', 'put_v1');
    expect(await receiver.send('a')).toBe(503);
    await cut;
    expect(await stored()).toBe(1);
    await receiver.deliver('a');
    expect(receiver.of('duplicate')).toEqual([]);
    await receiver.completed('first', 'a');
    expect(receiver.handled).toEqual(['first', 'a']);
  });

  it.each(['before-arrival', 'before-answer'] as const)(
    'completes a delivery once whose settlement was cut %s',
    async (when) => {
      const cut = proxy.cut(when, 'settle_v1');
      await receiver.deliver('a');
      await cut;
      await receiver.completed('first', 'a');
      await receiver.deliver('b');
      await receiver.completed('b');
      expect(receiver.handled).toEqual(['first', 'a', 'b']);
      expect(receiver.of('lost')).toEqual([]);
    },
  );

  it.each(['before-arrival', 'before-answer'] as const)(
    'handles a delivery once whose claim was cut %s',
    async (when) => {
      // A claim that returned nothing would not be missed.
      const cut = proxy.cut(when, 'claim_v1', when === 'before-answer' ? 'a-lost-claim' : '');
      await receiver.deliver('a-lost-claim');
      await cut;
      await receiver.completed('a-lost-claim');
      expect(receiver.handled).toEqual(['first', 'a-lost-claim']);
    },
  );

  it('refuses deliveries while a statement waits for a lock, and stores their retries', async () => {
    const { schema } = bed;
    // It would claim deliveries that the other one has stored.
    await receiver.close();
    // Other statements must not take that long, on a busy machine either.
    const hasty = new pg.Pool({ connectionString: bed.connectionString, max: 4, statement_timeout: 1000 });
    const other = new TroubledReceiver(postgresStore({ pool: hasty }, { schema }));
    await other.deliver('a');
    await other.completed('a');
    const locker = await bed.pool.connect();
    await locker.query(`BEGIN; LOCK TABLE ${schema}.ids IN ACCESS EXCLUSIVE MODE`);
    expect(await other.send('b')).toBe(503);
    expect(await other.failed('put')).toContain('statement timeout');
    expect(new Set(other.codes)).toEqual(new Set(['ERR_WBP_POSTGRES_UNAVAILABLE']));
    await locker.query('ROLLBACK');
    locker.release();
    await other.deliver('b');
    await other.completed('b');
    expect(other.of('duplicate')).toEqual([]);
    await other.close();
    await hasty.end();
  });

  it('refuses deliveries while others hold all connections of its pool', async () => {
    const held = await Promise.all([1, 2, 3, 4, 5].map(() => pool.connect()));
    expect(await receiver.send('a')).toBe(503);
    expect(await receiver.failed('put')).toContain('No connection within 5000 ms');
    for (const client of held) client.release();
    await receiver.deliver('a');
    await receiver.completed('a');
  });

  describe('while its handler runs', () => {
    let busy: TroubledReceiver;
    let neighbor: TroubledReceiver;
    let finish: () => void = () => undefined;

    beforeEach(async () => {
      const { schema } = bed;
      await receiver.close();
      const running = new Promise<void>((resolve) => {
        finish = resolve;
      });
      // With its only worker busy, it claims nothing.
      busy = new TroubledReceiver(postgresStore({ pool }, { schema }), {
        concurrency: 1,
        process: () => running,
      });
      await busy.deliver('a');
      await busy.until(() => busy.of('started').length === 1);
      neighbor = new TroubledReceiver(postgresStore({ pool: bed.pool }, { schema }));
      await neighbor.deliver('b');
      await neighbor.completed('b');
    });
    afterEach(async () => {
      proxy.resume();
      finish();
      await Promise.all([busy.close(), neighbor.close()]);
    });

    it('shows again that it lives when its sessions have ended', async () => {
      const before = await sessions();
      expect(before).toHaveLength(2);
      proxy.break();
      for (let now = before; now.length < 2 || now.join() === before.join();) now = await sessions();
      finish();
      await busy.completed('a');
      expect(neighbor.handled).toEqual(['b']);
    });

    it('keeps its delivery for the time of a partition, and refuses new ones', async () => {
      proxy.stop();
      expect(await busy.send('c')).toBe(503);
      await neighbor.deliver('d');
      await neighbor.completed('d');
      proxy.resume();
      finish();
      await busy.completed('a');
      await busy.deliver('c');
      expect(neighbor.handled).not.toContain('a');
    });
  });

  it('works again while the server still has its old sessions', async () => {
    proxy.breakUnnoticed();
    await receiver.deliver('a');
    await receiver.completed('a');
    expect(receiver.handled).toEqual(['first', 'a']);
    // Its lock does not wait for the end of the old session.
    while ((await sessions()).length < 2);
  });

  /** The sessions that show that an owner lives. */
  async function sessions(): Promise<number[]> {
    const { rows } = await bed.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND classid::bigint = hashtext('webhook-backpressure:' || $1)::bigint & 4294967295 ORDER BY pid`,
      [bed.schema],
    );
    return rows.map(({ pid }) => pid);
  }
});
