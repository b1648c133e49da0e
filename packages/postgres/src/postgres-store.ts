import { encodeText } from '@webhook-backpressure/inbox/store';
import type {
  ClaimedDelivery,
  ClaimOptions,
  ClaimRef,
  DeliveryRef,
  DueKeys,
  InboxStore,
  KeyClaim,
  KeyClaimOptions,
  KeyWant,
  OpenedStore,
  Put,
  PutResult,
  Settlement,
  StoreEvent,
  StoreLimits,
} from '@webhook-backpressure/inbox';
import type { FleetRegistry } from '@webhook-backpressure/fleet';
import { settle, type PostgresConnection, type PostgresStoreOptions } from './options.ts';
import { Claims } from './queue/claims.ts';
import { putIn, settleIn } from './queue/in-transaction.ts';
import { Incoming } from './queue/incoming.ts';
import { KeyClaims } from './queue/key-claims.ts';
import { UnknownOutcomes, type Lease } from './queue/unknown-outcomes.ts';
import { ServerRegistry } from './registry/postgres-registry.ts';
import { migrate } from './schema/migrate.ts';
import { Announcements } from './server/announcements.ts';
import { newOwner, Presence } from './server/presence.ts';
import { notOpen, Server, SERVER_MS } from './server/server.ts';
import { Starvation } from './server/starvation.ts';
import { StoredDeliveries } from './store/stored-deliveries.ts';

/**
 * Stores the deliveries of an inbox in PostgreSQL 15 or newer, for any number of receivers and workers on any number of
 * machines. When the promise of a call resolves, its changes are committed.
 *
 * `open` creates the tables or migrates them, once, whatever number of processes starts at the same time. Where the
 * application may not create tables, run the statements of {@link postgresSchema} first.
 *
 * @param connection - a pool, or the address of a server.
 * @param options - see {@link PostgresStoreOptions}.
 * @throws BackpressureError `ERR_WBP_OPTIONS`, `ERR_WBP_UNKNOWN_OPTION`, `ERR_WBP_POSTGRES_CONNECTION`,
 * `ERR_WBP_POSTGRES_SCHEMA` or `ERR_WBP_POSTGRES_POOLED` for invalid options. Methods reject with
 * `ERR_WBP_POSTGRES_SETUP`, `ERR_WBP_POSTGRES_FOREIGN`, `ERR_WBP_POSTGRES_VERSION` or `ERR_WBP_STORE_VALUE`, and then
 * have had no effect. After `ERR_WBP_POSTGRES_UNAVAILABLE` the effect is unknown: the connection may have been cut
 * during a commit. Before `open` and after `close` they reject with `ERR_WBP_POSTGRES_NOT_OPEN`.
 */
export function postgresStore(
  connection: PostgresConnection,
  options: PostgresStoreOptions = {},
): InboxStore {
  return new PostgresStore(new Server(settle(connection, options)));
}

/** An owner of claims: a store from `open` to `close`. */
interface Owner {
  readonly number: string;
  readonly claims: Claims;
  readonly keyClaims: KeyClaims;
  readonly outcomes: UnknownOutcomes;
  readonly announcements: Announcements;
  readonly presence: Presence;
  readonly starvation: Starvation;
}

class PostgresStore extends StoredDeliveries implements InboxStore {
  readonly registry: FleetRegistry;
  readonly #incoming: Incoming;
  #current: Owner | undefined;
  /** The order for which the store was opened; undefined: any. */
  #isOrdered: boolean | undefined;
  #isOrderReported = false;

  constructor(server: Server) {
    super(server);
    server.isOpen = false;
    this.registry = new ServerRegistry(server);
    this.#incoming = new Incoming(server);
  }

  watch(listener: (event: StoreEvent) => void): void {
    this.server.report = listener;
  }

  async open(nowMs: number, options?: { readonly isOrdered: boolean }): Promise<OpenedStore> {
    const { server } = this;
    if (server.isOpen)
      throw notOpen(
        `The store of the schema ${server.schema} is already open. Create a store for each inbox and each sender.`,
      );
    server.isOpen = true;
    this.#isOrdered = options?.isOrdered;
    try {
      this.#current = await this.#begin(nowMs);
      return { ...(await this.stats()), depthByKey: await this.depthByKey() };
    } catch (error) {
      await (this.#current === undefined ? server.end() : this.close(nowMs).catch(() => undefined));
      throw error;
    }
  }

  async put(
    batch: readonly Put[],
    { limits, nowMs }: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Promise<readonly PutResult[]> {
    const { announcements } = this.#owner();
    const results = await this.#incoming.put(batch, limits, nowMs);
    if (results.includes('stored')) announcements.due();
    return results;
  }

  async putIn(
    client: unknown,
    put: Put,
    { limits, nowMs }: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Promise<PutResult> {
    this.#owner();
    return await putIn(client, this.server, put, limits, nowMs);
  }

  async claim(count: number, options: ClaimOptions): Promise<readonly ClaimedDelivery[]> {
    return await this.#owner().claims.claim(count, options);
  }

  async claimKeys(wants: readonly KeyWant[], options: KeyClaimOptions): Promise<readonly KeyClaim[]> {
    return await this.#owner().keyClaims.claim(wants, options);
  }

  async dueKeys(page: Parameters<InboxStore['dueKeys']>[0]): Promise<DueKeys> {
    return await this.#owner().keyClaims.due(page);
  }

  async renew(claims: readonly ClaimRef[], lease: Lease): Promise<readonly boolean[]> {
    return await this.#owner().claims.renew(claims, lease);
  }

  async settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    const { announcements, claims } = this.#owner();
    const held = await claims.settle(settlements, nowMs);
    if (settlements.some(({ as }) => as === 'released')) announcements.due();
    return held;
  }

  async settleIn(client: unknown, settlement: Settlement, nowMs: number): Promise<boolean> {
    const { number, outcomes } = this.#owner();
    const [held] = outcomes.heldOf([settlement]);
    return await settleIn(client, this.server, number, held?.seq, settlement, nowMs);
  }

  override async getPending(ref: DeliveryRef, nowMs: number): ReturnType<StoredDeliveries['getPending']> {
    return await this.#owner().outcomes.looking(ref, () => super.getPending(ref, nowMs));
  }

  async nextDueMs(except?: ReadonlySet<string>): Promise<number | undefined> {
    return await this.#owner().claims.nextDueMs(except);
  }

  async hasten({ key, afterMs, nowMs, limit }: Parameters<InboxStore['hasten']>[0]): Promise<number> {
    const { schema, skew } = this.server;
    // The form of the condition is that of the index `queue_key_waiting`.
    const which = key === undefined ? 'state = 1' : 'state - 0 = 1 AND key = $4';
    const rows = await this.server.query(
      // By an array: a plan may run a subquery for each row, and its limit would not hold.
      `UPDATE ${schema}.queue SET due_ms = $1 WHERE seq = ANY (ARRAY(
        SELECT seq FROM ${schema}.queue WHERE ${which} AND due_ms > $2 LIMIT $3 FOR UPDATE SKIP LOCKED
      )) RETURNING 1`,
      [skew.toServer(nowMs), skew.toServer(afterMs), limit, ...(key === undefined ? [] : [encodeText(key)])],
    );
    return rows.length;
  }

  async close(nowMs: number): Promise<void> {
    const { server } = this;
    const { number, announcements, presence, starvation } = this.#owner();
    this.#current = undefined;
    starvation.end();
    announcements.close();
    try {
      await server.rows('leave_v1', [number, server.skew.toServer(nowMs)]);
      await announcements.send();
    } finally {
      presence.leave();
      await server.end();
    }
  }

  protected announce(): void {
    this.#current?.announcements.due();
  }

  /** Reports that another process has changed the order of the queue, once for each change. */
  protected override foundOrder(isOrdered: boolean): void {
    const isOther = this.#isOrdered !== undefined && isOrdered !== this.#isOrdered;
    const isNews = isOther && !this.#isOrderReported;
    this.#isOrderReported = isOther;
    if (!isNews) return;
    this.server.report({
      type: 'warning',
      code: 'WBP_POSTGRES_ORDER',
      message: `This process has the option ordered: ${String(!isOrdered)}, but another process has opened the schema ${this.server.schema} with ordered: ${String(isOrdered)}, which applies to all. Use the same option everywhere.`,
    });
  }

  #owner(): Owner {
    if (this.#current === undefined)
      throw notOpen(`The store of the schema ${this.server.schema} is not open.`);
    return this.#current;
  }

  async #begin(nowMs: number): Promise<Owner> {
    const { server } = this;
    await migrate(server);
    const { skew } = server;
    await server.timed(`SELECT ${SERVER_MS}`);
    const number = newOwner(server.isPooled);
    const announcements = new Announcements(server, number);
    const presence = new Presence(server, number, (client) => announcements.listen(client));
    try {
      await presence.announce();
      if (this.#isOrdered !== undefined)
        await server.rows('set_order_v1', [this.#isOrdered, skew.toServer(nowMs)]);
    } catch (error) {
      // A pool ends when it has all its connections back.
      announcements.close();
      presence.leave();
      throw error;
    }
    const outcomes = new UnknownOutcomes(server, number);
    const starvation = new Starvation(server);
    starvation.begin();
    return {
      number,
      claims: new Claims(server, number, presence, outcomes),
      keyClaims: new KeyClaims(server, number, presence, outcomes),
      outcomes,
      announcements,
      presence,
      starvation,
    };
  }
}
