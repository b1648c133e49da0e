import { randomBytes } from 'node:crypto';
import type { PostgresClient } from '../options.ts';
import { coded } from './errors.ts';
import { SERVER_MS, type Server } from './server.ts';

/** How often dead owners are looked for. */
const LOOK_MS = 1000;
/** How long the lock of an owner must be missing. */
const MISSING_MS = 3000;
/** After a restart of the server, or on a replica that has become the server, owners need time to lock again. */
const UNTIL_SETTLED_MS = 10_000;
const RETRY_MS = 500;
const LOCK_TIMEOUT_MS = 5000;

/** Owners without a session have numbers from it on. */
const UNLOCKED = -(2n ** 62n);

/** The first number of the advisory locks of the schema `$1`. The second one is the last 32 bits of the owner's number. */
export const LOCK = "hashtext('webhook-backpressure:' || $1)";

/**
 * The number of an owner: 62 random bits. Numbers of a sequence repeat after a restore, or when a replica without the last
 * of them becomes the server. It is negative, since earlier releases take a positive one without their lock for dead.
 */
export function newOwner(isPooled: boolean): string {
  const random = BigInt.asUintN(62, randomBytes(8).readBigUInt64BE());
  return String((isPooled ? -1n : UNLOCKED - 1n) - random);
}

/** Locks the number of this owner in a session of the server, so that others see when its process has died. */
export class Presence {
  readonly #server: Server;
  readonly #owner: string;
  readonly #begin: (client: PostgresClient) => Promise<void>;
  readonly #missingSince = new Map<string, number>();
  #client: PostgresClient | undefined;
  #locking: Promise<void> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lookedAt = -Infinity;
  /** Infinity: its lock is lost, as those of others may be. */
  #settledAt = -Infinity;
  #isClosed = false;

  /** @param begin - called with each session. */
  constructor(server: Server, owner: string, begin: (client: PostgresClient) => Promise<void>) {
    this.#server = server;
    this.#owner = owner;
    this.#begin = begin;
  }

  /** Locks the number of this owner, unless it is locked. */
  async announce(): Promise<void> {
    if (this.#server.isPooled) return;
    this.#locking ??= this.#lock().finally(() => {
      this.#locking = undefined;
    });
    await this.#locking;
  }

  async #lock(): Promise<void> {
    if (this.#client !== undefined || this.#isClosed) return;
    const { schema } = this.#server;
    let client: PostgresClient | undefined;
    try {
      const taken = (client = await this.#server.connect());
      taken.on('error', () => {
        this.#lost(taken);
      });
      // Shared, since the server may not have missed the session of a connection that was cut.
      const text = `SELECT pg_advisory_lock_shared(${LOCK}, $2)`;
      const values = [schema, Number(BigInt.asIntN(32, BigInt(this.#owner)))];
      await client.query({ text, values, query_timeout: LOCK_TIMEOUT_MS });
      await this.#begin(taken);
    } catch (error) {
      client?.release(true);
      throw coded(error, schema);
    }
    this.#client = client;
    if (this.#settledAt === Infinity) this.#settledAt = performance.now() + UNTIL_SETTLED_MS;
    // Meanwhile it may have left.
    this.#releaseIfClosed();
  }

  /** Locks again immediately, since others take over the claims of an owner without a lock, however busy it is. */
  #lost(client: PostgresClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#settledAt = Infinity;
    client.release(true);
    this.#announceAgain();
  }

  #announceAgain(): void {
    this.announce().catch(() => {
      if (this.#isClosed) return;
      this.#retry = setTimeout(() => {
        this.#announceAgain();
      }, RETRY_MS);
      this.#retry.unref();
    });
  }

  /** Owners that hold claims and have died. Looks at most once a second. */
  async dead(): Promise<readonly string[]> {
    const now = performance.now();
    if (this.#server.isPooled || now - this.#lookedAt < LOOK_MS) return [];
    this.#lookedAt = now;
    await this.announce();
    const { schema } = this.#server;
    const [found] = await this.#server.timed<{ missing: string[] }>(
      `SELECT ARRAY(
        SELECT DISTINCT q.owner FROM ${schema}.queue q WHERE q.state = 2 AND q.owner < ${String(UNLOCKED)}
          AND pg_postmaster_start_time() < clock_timestamp() - interval '${String(UNTIL_SETTLED_MS)} ms'
          AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND l.classid::bigint = ${LOCK}::bigint & 4294967295 AND l.objid::bigint = q.owner & 4294967295)
      )::text[] AS missing, ${SERVER_MS}`,
      [schema],
    );
    const missing = new Set(found?.missing);
    // The server has ended the session, and this end of the connection has not noticed.
    if (missing.delete(this.#owner) && this.#client !== undefined) this.#lost(this.#client);
    for (const owner of this.#missingSince.keys()) {
      if (!missing.has(owner)) this.#missingSince.delete(owner);
    }
    for (const owner of missing) {
      if (!this.#missingSince.has(owner)) this.#missingSince.set(owner, now);
    }
    if (now < this.#settledAt) return [];
    return [...missing].filter((owner) => now - (this.#missingSince.get(owner) ?? now) >= MISSING_MS);
  }

  /** Ends the session, and its lock with it. */
  leave(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#releaseIfClosed();
  }

  #releaseIfClosed(): void {
    const client = this.#client;
    if (!this.#isClosed || client === undefined) return;
    this.#client = undefined;
    client.release(true);
  }
}
