import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOAD_CORE, Pinned } from '../pinned.ts';
import type { Access } from '../story/setup.ts';
import type { Places } from './sides.ts';

/** PostgreSQL refuses to run as root. This user has no rights. */
const UNPRIVILEGED = 65_534;
const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;

/** The servers of a run, on the core of the load. */
export interface Servers {
  /** With a new file. */
  places(name: string): Places;
  /** Requests that arrived since the last call, by path. */
  arrived(): Promise<Readonly<Record<string, number>>>;
}

/** Starts PostgreSQL, Redis and the receiver, and stops them when `work` has ended. */
export async function withServers<T>(work: (servers: Servers) => Promise<T>): Promise<T> {
  // On a disk, since commits wait for it.
  const folder = mkdtempSync(join(tmpdir(), 'wbp-sender-'));
  if (uid !== undefined) chownSync(folder, uid, uid);
  const database = new Pinned('story/database-child.js', [folder], { core: LOAD_CORE, uid });
  // As BullMQ's documentation recommends.
  const redis = new Pinned('queues/redis-child.js', [folder, 'everysec'], { core: LOAD_CORE, uid });
  const receiver = new Pinned('sender/receiver-child.js', [], { core: LOAD_CORE });
  try {
    const { user, password, host, port, database: name } = await database.ask<Access>('start');
    const places = {
      receiverPort: await receiver.ask<number>('start'),
      connectionString: `postgres://${user}:${password}@${host}:${String(port)}/${name}`,
      redisPort: await redis.ask<number>('start'),
    };
    const result = await work({
      places: (file) => ({ ...places, file: join(folder, `${file}.db`) }),
      arrived: () => receiver.ask('counts'),
    });
    await database.ask('stop');
    return result;
  } finally {
    await database.stop();
    await redis.stop();
    await receiver.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
