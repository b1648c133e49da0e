import type { OpenedStore } from '@webhook-backpressure/inbox';
import { Completed } from '../finished/completed.ts';
import { DeadLetters } from '../finished/dead-letters.ts';
import { Claims } from '../queue/claims.ts';
import { Incoming } from '../queue/incoming.ts';
import { KeyClaims } from '../queue/key-claims.ts';
import { Levels } from '../queue/levels.ts';
import { Pauses } from '../queue/pauses.ts';
import { Pending } from '../queue/pending.ts';
import { StrayClaims } from '../queue/stray-claims.ts';
import { ServerRegistry } from '../registry/server-registry.ts';
import { migrate } from '../schema/migrate.ts';
import { Announcements } from '../server/announcements.ts';
import { Presence } from '../server/presence.ts';
import { Starvation } from '../server/starvation.ts';
import type { Server } from '../server/server.ts';

/** A store that is open: one owner of claims. */
export class OpenStore {
  readonly incoming: Incoming;
  readonly claims: Claims;
  readonly keyClaims: KeyClaims;
  readonly pending: Pending;
  readonly pauses: Pauses;
  readonly levels: Levels;
  readonly registry: ServerRegistry;
  readonly deadLetters: DeadLetters;
  readonly completed: Completed;
  readonly #server: Server;
  readonly #owner: number;
  readonly announcements: Announcements;
  readonly #presence: Presence;
  readonly #starvation: Starvation;

  private constructor(
    server: Server,
    owner: number,
    isOrdered: boolean | undefined,
    announcements: Announcements,
    presence: Presence,
  ) {
    this.#server = server;
    this.#owner = owner;
    this.announcements = announcements;
    this.#presence = presence;
    this.#starvation = new Starvation(server);
    this.#starvation.begin();
    this.incoming = new Incoming(server);
    const strays = new StrayClaims(server, owner);
    this.claims = new Claims(server, owner, presence, strays);
    this.keyClaims = new KeyClaims(server, owner, presence, strays);
    this.pending = new Pending(server);
    this.pauses = new Pauses(server);
    this.levels = new Levels(server, isOrdered);
    this.registry = new ServerRegistry(server);
    this.deadLetters = new DeadLetters(server);
    this.completed = new Completed(server);
  }

  static async open(server: Server, nowMs: number, isOrdered: boolean | undefined): Promise<OpenStore> {
    await migrate(server);
    const { schema, skew } = server;
    const sentAtMs = skew.now();
    const [row] = await server.query<{ owner: number; server_ms: number }>(
      `SELECT nextval('${schema}.owner_seq')::double precision AS owner,
        (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS server_ms`,
    );
    const { owner, server_ms: serverMs } = row as { owner: number; server_ms: number };
    skew.note(serverMs, sentAtMs);
    // A negative number says that no lock shows whether the owner lives.
    const self = server.isPooled ? -owner : owner;
    const announcements = new Announcements(server, self);
    const presence = new Presence(server, self, (client) => announcements.listen(client));
    try {
      await presence.announce();
      if (isOrdered !== undefined) await server.rows('set_order_v1', [isOrdered, skew.toServer(nowMs)]);
    } catch (error) {
      // A pool ends when it has all its connections back.
      announcements.close();
      presence.leave();
      throw error;
    }
    return new OpenStore(server, self, isOrdered, announcements, presence);
  }

  async found(): Promise<OpenedStore> {
    return { ...(await this.levels.stats()), depthByKey: await this.levels.depthByKey() };
  }

  async close(nowMs: number): Promise<void> {
    this.#starvation.end();
    this.announcements.close();
    try {
      await this.#server.rows('leave_v1', [this.#owner, this.#server.skew.toServer(nowMs)]);
      await this.announcements.send();
    } finally {
      this.#presence.leave();
      await this.#server.end();
    }
  }
}
