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
});
