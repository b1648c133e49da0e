import type { StoreStats } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { decodeText } from './text.ts';

/** How much a transaction changes the totals. */
export interface Changes {
  depth: number;
  inFlight: number;
  bytes: number;
  shelved: number;
  shelvedBytes: number;
  remembered: number;
  kept: number;
  keptBytes: number;
  /** Deliveries that left the queue: completed, or dead letters. */
  drained: number;
}

/** The low-water mark: up to here the command-line tool, which has no inbox, puts deliveries back into the queue. */
export interface Room {
  readonly depth: number;
  readonly bytes: number;
}

/** The numbers of deliveries in each state, updated in every commit. */
export class Totals {
  readonly #connection: Connection;
  readonly #read: Statement;
  readonly #add: Statement;
  readonly #oldest: Statement;
  readonly #byKey: Statement;
  readonly #room: Statement;
  readonly #noteRoom: Statement;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#read = connection.prepare(
      'SELECT depth, in_flight, bytes, shelved, shelved_bytes, remembered, kept, kept_bytes, drained FROM totals',
    );
    this.#add = connection.prepare(
      // The size of a delivery whose row cannot be read is unknown, so an empty queue sets the bytes to 0.
      `UPDATE totals SET depth = depth + ?1, in_flight = in_flight + ?2,
        bytes = CASE WHEN depth + ?1 = 0 THEN 0 ELSE bytes + ?3 END,
        shelved = shelved + ?4, shelved_bytes = shelved_bytes + ?5, remembered = remembered + ?6,
        kept = kept + ?7, kept_bytes = kept_bytes + ?8, drained = drained + ?9`,
    );
    this.#room = connection.prepare('SELECT room_depth, room_bytes FROM totals');
    this.#noteRoom = connection.prepare('UPDATE totals SET room_depth = ?, room_bytes = ?');
    this.#oldest = connection.prepare('SELECT min(received_ms) FROM queue');
    // Most deliveries are usually ready, and the index has them in the order of the keys.
    this.#byKey = connection.prepare(
      `SELECT key, sum(depth) FROM (
        SELECT key, count(*) AS depth FROM queue INDEXED BY queue_ready WHERE state = 0 GROUP BY key
        UNION ALL
        SELECT key, count(*) AS depth FROM queue INDEXED BY queue_due WHERE state IN (1, 2, 3, 4, 5) GROUP BY key
      ) GROUP BY key`,
    );
  }

  read(): Changes {
    const [depth, inFlight, bytes, shelved, shelvedBytes, remembered, kept, keptBytes, drained] =
      this.#read.get([]) as [number, number, number, number, number, number, number, number, number];
    return { depth, inFlight, bytes, shelved, shelvedBytes, remembered, kept, keptBytes, drained };
  }

  /** Undefined if no receiver of this release has used the file yet. */
  room(): Room | undefined {
    const [depth, bytes] = this.#room.get([]) as [number | null, number | null];
    return depth === null || bytes === null ? undefined : { depth, bytes };
  }

  noteRoom({ depth, bytes }: Room): void {
    this.#connection.transaction(() => this.#noteRoom.run([depth, bytes]));
  }

  stats(): Omit<StoreStats, 'isPaused' | 'pausedKeys'> {
    const [oldest] = this.#oldest.get([]) as [number | null];
    return { ...this.read(), oldestReceivedAtMs: oldest ?? undefined };
  }

  /** Takes 15 ms for 100,000 deliveries of ten keys. */
  depthByKey(): ReadonlyMap<string, number> {
    const rows = this.#byKey.all([]) as [string, number][];
    return new Map(rows.map(([key, depth]) => [decodeText(key), depth]));
  }

  /** Runs `work` in one commit, and adds its changes to the totals. */
  transaction<T>(work: (changes: Changes) => T): T {
    return this.#connection.transaction(() => this.#counted(work));
  }

  #counted<T>(work: (changes: Changes) => T): T {
    const changes: Changes = {
      ...{
        depth: 0,
        inFlight: 0,
        bytes: 0,
        shelved: 0,
        shelvedBytes: 0,
        remembered: 0,
        kept: 0,
        keptBytes: 0,
        drained: 0,
      },
    };
    const result = work(changes);
    const { depth, inFlight, bytes, shelved, shelvedBytes, remembered, kept, keptBytes, drained } = changes;
    const values = [depth, inFlight, bytes, shelved, shelvedBytes, remembered, kept, keptBytes, drained];
    // A transaction without writes does not wait for the disk.
    if (values.some((value) => value !== 0)) this.#add.run(values);
    return result;
  }
}
