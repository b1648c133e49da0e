import pg from 'pg';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreLife } from '../../power/children/store-life.js';
import { isSkipped, PostgresBed } from '../bed.ts';
import { Proxy } from '../proxy.ts';

/** `POWER_CUTS=1` breaks each piece, and the other tests every ninth. */
const STRIDE = process.env['POWER_CUTS'] === undefined ? 9 : 1;

describe.skipIf(isSkipped)(
  'postgresStore whose connection breaks at one piece of data after the other',
  () => {
    let bed: PostgresBed;
    let proxy: Proxy;

    beforeEach(async () => {
      bed = new PostgresBed();
      proxy = await Proxy.to(bed.connectionString);
    });
    afterEach(async () => {
      await proxy.close();
      await bed.dispose();
    });

    it('loses nothing that it has acknowledged, and resumes', async () => {
      const problems: string[] = [];
      let lives = 0;
      let failing = 0;
      for (let at = 1, isOver = false; !isOver; at += STRIDE) {
        lives += 1;
        const schema = `${bed.schema}_${String(at)}`;
        const pool = new pg.Pool({ connectionString: proxy.via(bed.connectionString), max: 4 });
        pool.on('error', () => undefined);
        const life = new StoreLife(() => postgresStore({ pool }, { schema }));
        try {
          proxy.pieces = 0;
          proxy.breakAt = at;
          await life.use();
          isOver = proxy.pieces < at;
          proxy.breakAt = 0;
          await life.empty();
          problems.push(...(await life.problems()).map((problem) => `${String(at)}: ${problem}`));
          await life.opened.close(life.nowMs);
        } catch (error) {
          proxy.breakAt = 0;
          problems.push(`${String(at)}: ${String(error)}, after ${life.failures.join('; ')}`);
        }
        if (life.failures.length > 0) failing += 1;
        await pool.end();
        await bed.pool.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      }
      expect(problems).toEqual([]);
      expect(lives).toBeGreaterThan(30 / STRIDE);
      expect(failing).toBeGreaterThan(lives / 4);
    }, 300_000);
  },
);
