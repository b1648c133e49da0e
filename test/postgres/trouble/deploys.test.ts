import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInbox, type InboxOptions } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkHistory } from '@webhook-backpressure/core/testing';
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
    // Each is completed by the first end of a handler.
    const runs = readLog(log).map((step) => (step.type === 'ended' ? { ...step, type: 'completed' } : step));
    const limits = { type: 'limits', atMs: 0, exclusive: true };
    const acknowledged = sender.refs.map((ref) => ({ ...ref, type: 'acknowledged', atMs: 0 }));
    expect(checkHistory([limits, ...runs, ...acknowledged])).toEqual([]);
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

  it('in their encryption keys report a delivery without its key, and keep it for one that has it', async () => {
    const keys = { old: new Uint8Array(32).fill(1), new: new Uint8Array(32).fill(2) };
    const old = open({
      encrypt: { keys: { old: keys.old } },
      retry: { attempts: 100, firstDelayMs: 1000, maxDelayMs: 1000 },
    });
    await old.deliver('a');
    await old.completed('a');
    const { schema, connectionString } = bed;
    const encrypt = { keys, current: 'new' };
    // A receiver without workers, so that the first attempt is made without the key.
    const receiving = createInbox({
      store: postgresStore({ connectionString }, { schema }),
      verify: false,
      encrypt,
    });
    cleanUps.push(() => receiving.close());
    const put = async (): Promise<number | undefined> => {
      const headers = { 'webhook-id': 'b' };
      const read = (body: { add(part: Uint8Array): boolean }): Promise<'whole'> => {
        body.add(new Uint8Array([123, 125]));
        return Promise.resolve('whole');
      };
      return (await receiving.receive({ method: 'POST', url: '/', headers, hint: '', read }))?.status;
    };
    await vi.waitUntil(async () => (await put()) === 200);
    await old.until(() => old.of('failed').length > 0);
    expect(old.of('failed')[0]?.error).toContain('ERR_WBP_DECRYPT');
    await old.close();
    const next = open({ encrypt });
    await next.completed('b');
  });
});
