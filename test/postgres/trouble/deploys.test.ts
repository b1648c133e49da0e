import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InboxOptions } from '@webhook-backpressure/core';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readLog } from '../../crash/handler-log.ts';
import { Receiver } from '../../crash/receiver.ts';
import { Sender } from '../../crash/sender.ts';
import { isSkipped, PostgresBed } from '../bed.ts';
import { TroubledReceiver } from './receiver.ts';

const MINUTE_MS = 60_000;

describe.skipIf(isSkipped)('receivers on PostgreSQL that differ', () => {
  let bed: PostgresBed;
  const cleanUps: (() => Promise<unknown>)[] = [];

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
    await bed.dispose();
  });

  function open(options: Partial<InboxOptions>): TroubledReceiver {
    const { schema, connectionString } = bed;
    const receiver = new TroubledReceiver(postgresStore({ connectionString }, { schema }), options);
    cleanUps.push(() => receiver.close());
    return receiver;
  }

  it('by a minute in their clocks handle each delivery once and without a delay', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wbp-skew-'));
    const log = join(folder, 'handled.log');
    const sender = new Sender();
    cleanUps.push(() => {
      sender.hangUp();
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    });
    const receivers = [-MINUTE_MS, 0, MINUTE_MS].map((aheadMs, life) => {
      const store = { connectionString: bed.connectionString, schema: bed.schema };
      const settings = { concurrency: 2, attempts: 3, maxHandlingMs: MINUTE_MS };
      const receiver = new Receiver({ role: 'both', store, log, life, aheadMs, ...settings });
      cleanUps.unshift(() => receiver.kill());
      return receiver;
    });
    for (const one of receivers) await one.start();
    const ids = Array.from({ length: 60 }, (_, at) => String(at));
    await Promise.all(
      ids.map(async (id, at) => {
        const { port } = receivers[at % receivers.length] as Receiver;
        while (!(await sender.send(port, id, { tookMs: 50 })));
      }),
    );
    const count = `SELECT count(*)::integer AS depth FROM ${bed.schema}.queue`;
    for (let depth = 1; depth > 0;)
      depth = (await bed.pool.query<{ depth: number }>(count)).rows[0]?.depth ?? 0;
    const { starts, ended } = readLog(log);
    expect([...ended].sort()).toEqual([...ids].sort());
    expect(Math.max(...starts.values())).toBe(1);
  });

  it('in the order report it, and the order of the last one applies', async () => {
    const strict = open({ ordered: true });
    await strict.deliver('a');
    const loose = open({ ordered: false });
    await loose.deliver('b');
    await strict.until(() => strict.of('store-warning').length > 0);
    expect(strict.of('store-warning').map(({ code }) => code)).toEqual(['WBP_POSTGRES_ORDER']);
    expect(loose.of('store-warning')).toEqual([]);
    await vi.waitUntil(() => strict.handled.length + loose.handled.length === 2);
  });

  it('in their capacity keep within their own', async () => {
    const large = open({ capacity: 100 });
    await large.deliver('a');
    await large.completed('a');
    await large.inbox.pause();
    for (let at = 0; at < 8; at += 1) expect(await large.send(`b-${String(at)}`)).toBe(200);
    const small = open({ capacity: 8 });
    await small.until(() => small.inbox.snapshot().depth === 8 || small.events.length > 0);
    expect([429, 503]).toContain(await small.send('c'));
    expect(await large.send('c')).toBe(200);
  });

  it('in their encryption keys leave a delivery to the one that has its key', async () => {
    const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    // Each attempt without the key fails, and counts.
    const retry = { attempts: 100, firstDelayMs: 50, maxDelayMs: 50 };
    const old = open({ encrypt: { keys: { old: oldKey } }, retry });
    await old.deliver('a');
    await old.completed('a');
    await old.inbox.pause();
    const next = open({ encrypt: { keys: { old: oldKey, new: newKey }, current: 'new' } });
    await next.deliver('b');
    await old.inbox.resume();
    await vi.waitUntil(() => [...old.handled, ...next.handled].includes('b'), { timeout: 20_000 });
    expect(next.handled).toEqual(['b']);
    for (const { error } of old.of('failed')) expect(error).toContain('ERR_WBP_DECRYPT');
  });
});
