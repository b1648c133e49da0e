import { manualClock } from '@webhook-backpressure/core/testing';
import { createSender, type Sender, type SenderOptions } from '@webhook-backpressure/sender';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSkipped, PostgresBed } from '../bed.ts';

describe.skipIf(isSkipped)('send with the client of a transaction', () => {
  let bed: PostgresBed;
  let sender: Sender;
  let arrived: string[];
  let onArrival: (id: string) => void;
  beforeEach(() => {
    bed = new PostgresBed({ isReused: true });
    arrived = [];
    onArrival = () => undefined;
  });

  async function open(options: Partial<SenderOptions> = {}): Promise<void> {
    sender = createSender({
      store: bed.store(),
      endpoint: () => ({ url: 'https://endpoint.example/', secret: null }),
      fetch: (_, init) => {
        const id = (init?.headers as Record<string, string>)['webhook-id'] ?? '';
        arrived.push(id);
        onArrival(id);
        return Promise.resolve(new Response(null, { status: 204 }));
      },
      ...options,
    });
    await sender.opened;
  }

  afterEach(async () => {
    await sender.close({ timeoutMs: 0 });
    await bed.dispose();
  });

  const event = (id: string) => ({ endpoint: 'e', type: 'made', data: {}, id });
  const arrival = (id: string) =>
    new Promise<void>((resolve) => {
      onArrival = (one) => {
        if (one === id) resolve();
      };
    });

  it('sends the event once the transaction is committed', async () => {
    await open();
    const client = await bed.otherProgram();
    await client.query('BEGIN');
    expect(await sender.send(event('a'), { client })).toEqual({ id: 'a', status: 'accepted' });
    expect(await sender.send(event('a'), { client })).toEqual({ id: 'a', status: 'duplicate' });
    // Not counted, since it may be rolled back.
    expect(sender.snapshot()).toMatchObject({ depth: 0, totals: { accepted: 0 } });
    const sent = arrival('a');
    await client.query('COMMIT');
    await sent;
    expect(arrived).toEqual(['a']);
    expect(await sender.send(event('a'))).toEqual({ id: 'a', status: 'duplicate' });
  });

  it('finds an event of a transaction that is committed long after the call', async () => {
    const clock = manualClock();
    await open({ clock });
    const client = await bed.otherProgram();
    await client.query('BEGIN');
    await sender.send(event('a'), { client });
    /** Lets the time of the sender pass, and its calls of the store end. */
    const pass = async (ms: number, until: () => boolean): Promise<void> => {
      for (let at = 0; at < ms && !until(); at += 100) {
        clock.advance(100);
        for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
      }
    };
    await pass(20_000, () => arrived.length > 0);
    expect(arrived).toEqual([]);
    await client.query('COMMIT');
    await pass(20_000, () => arrived.length > 0);
    expect(arrived).toEqual(['a']);
  });

  it('never sends the event of a transaction that is rolled back, and keeps its room', async () => {
    await open({ capacity: 2 });
    const client = await bed.otherProgram();
    for (let at = 0; at < 5; at += 1) {
      await client.query('BEGIN');
      await sender.send(event(`rolled back ${String(at)}`.replaceAll(' ', '-')), { client });
      await client.query('ROLLBACK');
    }
    const sent = arrival('a');
    await sender.send(event('a'));
    await sent;
    expect(arrived).toEqual(['a']);
    expect(sender.snapshot().totals).toMatchObject({ accepted: 1 });
  });

  it('rejects without room, and a client that is a pool', async () => {
    await open({ capacity: 2 });
    const client = await bed.otherProgram();
    await client.query('BEGIN');
    await sender.send(event('a'), { client });
    await sender.send(event('b'), { client });
    await expect(sender.send(event('c'), { client })).rejects.toMatchObject({ code: 'ERR_WBP_SEND_FULL' });
    await client.query('ROLLBACK');
    await expect(sender.send(event('d'), { client: bed.pool })).rejects.toMatchObject({
      code: 'ERR_WBP_TRANSACTION',
    });
  });
});
