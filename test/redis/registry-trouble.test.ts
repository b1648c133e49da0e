import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { FleetBeat, FleetRegistry } from '@webhook-backpressure/fleet';
import { redisRegistry, type RedisClient } from '@webhook-backpressure/redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectSharing } from '../core/fleet/real-registry.ts';
import { isRedisSkipped } from './bed.ts';
import { RedisServer } from './server.ts';

function beatOf(member: string, number = 1): FleetBeat {
  return { resource: 'db', member, number, state: '{}', news: '', seen: {} };
}

async function membersOf(registry: FleetRegistry, member: string, number = 1): Promise<string[]> {
  const { members } = await registry.beat(beatOf(member, number));
  return members.map((one) => one.member).sort();
}

describe.skipIf(isRedisSkipped)('redisRegistry', () => {
  let server: RedisServer;
  const open: (() => void)[] = [];

  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    for (const close of open.splice(0)) close();
    await server.stop();
  });

  function ioredis(url: string = server.url): Redis {
    const client = new Redis(url, {
      enableOfflineQueue: false,
      enableReadyCheck: false,
      lazyConnect: true,
      retryStrategy: () => 10,
    });
    client.on('error', () => undefined);
    open.push(() => {
      client.disconnect();
    });
    return client;
  }

  async function connected(): Promise<
    { name: string; client: RedisClient; again: () => Promise<unknown> }[]
  > {
    const first = ioredis();
    await first.connect();
    const second = createClient({
      url: server.url,
      disableOfflineQueue: true,
      socket: { reconnectStrategy: 10 },
    });
    second.on('error', () => undefined);
    await second.connect();
    open.push(() => {
      second.destroy();
    });
    const event = (client: { once(name: 'ready', listener: () => void): unknown }): Promise<void> =>
      new Promise((resolve) => void client.once('ready', resolve));
    return [
      { name: 'a', client: first, again: () => event(first) },
      { name: 'b', client: second, again: () => event(second) },
    ];
  }

  it('shares a limit among members whose clocks differ by hours', async () => {
    const [first, second] = await connected();
    const clients = [first, second, first, second].map((one) => one?.client as RedisClient);
    await expectSharing(clients.map((client) => redisRegistry(client)));
  });

  it('rejects while the server is down, and works when it is up again, without its rows', async () => {
    const clients = await connected();
    const registries = clients.map(({ client }) => redisRegistry(client));
    const ready = clients.map(({ again }) => again());
    await Promise.all(registries.map((registry, at) => membersOf(registry, String(at))));
    await server.kill();
    for (const registry of registries) await expect(registry.beat(beatOf('x'))).rejects.toThrow();
    await server.restart();
    await Promise.all(ready);
    const [first, second] = registries as [FleetRegistry, FleetRegistry];
    expect(await membersOf(first, '0', 2)).toEqual(['0']);
    expect(await membersOf(second, '1', 2)).toEqual(['0', '1']);
  });

  it('answers when a pause of the server ends', async () => {
    const [first, second] = await connected();
    const admin = ioredis();
    await admin.connect();
    await admin.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const registries = [first, second].map((one) => redisRegistry(one?.client as RedisClient));
    const waiting = registries.map((registry, at) => membersOf(registry, String(at)));
    await admin.call('CLIENT', 'UNPAUSE');
    // Whichever connection the server reads first sees itself alone; the other one sees both.
    const seen = (await Promise.all(waiting)).map((members) => members.length).sort();
    expect(seen).toEqual([1, 2]);
  });

  it('works after the server has lost its rows and scripts', async () => {
    const [first] = await connected();
    const registry = redisRegistry(first?.client as RedisClient);
    await registry.beat(beatOf('a'));
    const admin = ioredis();
    await admin.connect();
    await admin.flushall();
    await admin.script('FLUSH');
    expect(await membersOf(registry, 'b')).toEqual(['b']);
    expect(await membersOf(registry, 'a', 2)).toEqual(['a', 'b']);
  });

  it('deletes what another program has written, and works with the rest', async () => {
    const client = ioredis();
    await client.connect();
    const registry = redisRegistry(client, { prefix: 'shop' });
    await registry.beat(beatOf('a'));
    const fields = ['s x', 's y', 'n a', 'n a 1', 'n a b c', 's ', '', 'garbage', 'n x 1 99999999999999999'];
    for (const field of fields) await client.hset('shop:db', field, 'garbage');
    await client.hset('shop:db', 's z', '1 x {}');
    expect(await membersOf(registry, 'b')).toEqual(['a', 'b']);
    expect((await client.hkeys('shop:db')).sort()).toEqual(['', 'garbage', 's ', 's a', 's b']);
  });

  it('rejects with the error of the server without the rights, on a replica, and on a full server', async () => {
    const admin = ioredis();
    await admin.connect();
    await admin.call('ACL', 'SETUSER', 'reader', 'on', 'nopass', '~*', '+@read', '+eval');
    const reader = ioredis(server.url.replace('//', '//reader:any@'));
    await reader.connect();
    await expect(redisRegistry(reader).beat(beatOf('a'))).rejects.toThrow(/NOPERM|can't run this command/);
    const registry = redisRegistry(admin);
    await admin.config('SET', 'maxmemory', '1');
    await expect(registry.beat(beatOf('a'))).rejects.toThrow(/OOM/);
    await admin.config('SET', 'maxmemory', '0');
    await admin.replicaof('127.0.0.1', '1');
    await expect(registry.beat(beatOf('a'))).rejects.toThrow(/READONLY|MASTERDOWN/);
  });

  it('deletes its key a minute after the last beat', async () => {
    const client = ioredis();
    await client.connect();
    await redisRegistry(client, { prefix: 'shop' }).beat(beatOf('a'));
    expect(await client.keys('*')).toEqual(['shop:db']);
    expect(await client.pttl('shop:db')).toBeGreaterThan(50_000);
    expect(await client.pttl('shop:db')).toBeLessThanOrEqual(60_000);
  });
});
