import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import pg from 'pg';
import { postgresRegistry, postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSkipped, PostgresBed } from './bed.ts';
import { TroubledReceiver } from './trouble/receiver.ts';

const ENDED = { code: 'ERR_WBP_POSTGRES_UNAVAILABLE' };

function message(type: string, content: Uint8Array): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(content.byteLength + 4, 1);
  return Buffer.concat([head, content]);
}

/** Accepts the user, is ready for a query, and ends the connection, as an administrator does. */
const ACCEPTED_AND_ENDED = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
]);

// An error without a listener would be uncaught, and fail these tests.
describe('a connection that PostgreSQL ends in the packet that establishes it', () => {
  let server: Server;
  let connectionString: string;

  beforeEach(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(ACCEPTED_AND_ENDED));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    connectionString = `postgres://test@127.0.0.1:${String((server.address() as AddressInfo).port)}/test`;
  });
  afterEach(() => server.close());

  it('fails the call of a store', async () => {
    await expect(postgresStore({ connectionString }).open(0)).rejects.toMatchObject(ENDED);
  });

  it('fails the call of a store with a pool of the user', async () => {
    const pool = new pg.Pool({ connectionString });
    pool.on('error', () => undefined);
    await expect(postgresStore({ pool }).open(0)).rejects.toMatchObject(ENDED);
    expect(pool.listenerCount('connect')).toBe(0);
    await pool.end();
  });

  it('fails a beat', async () => {
    const pool = new pg.Pool({ connectionString });
    pool.on('error', () => undefined);
    const beat = { resource: 'db', member: 'a', number: 1, state: '{}', news: '', seen: {} };
    await expect(postgresRegistry(pool).beat(beat)).rejects.toMatchObject(ENDED);
    await pool.end();
  });
});

describe.skipIf(isSkipped)('a receiver on PostgreSQL whose connections an administrator ends', () => {
  let bed: PostgresBed;

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  it('lives, and loses nothing', async () => {
    const { schema, pool } = bed;
    const connectionString = `${bed.connectionString}?application_name=${schema}`;
    const receiver = new TroubledReceiver(postgresStore({ connectionString }, { schema }));
    await receiver.deliver('first');
    const acknowledged = ['first'];
    for (let at = 0; at < 100; at += 1) {
      const id = String(at);
      const sent = receiver.send(id);
      await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
        schema,
      ]);
      if ((await sent) < 300) acknowledged.push(id);
    }
    await receiver.completed(...acknowledged);
    await receiver.close();
  });
});
