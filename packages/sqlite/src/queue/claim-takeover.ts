import type { ClaimRef } from '@webhook-backpressure/core';
import type { Connection, Statement } from './connection.ts';
import { removeLock } from './owner-lock.ts';
import { encodeText } from '../tables/text.ts';
import type { Changes } from '../tables/totals.ts';

/** An owner whose thread has ended, while its process goes on with what that had claimed. */
export interface Predecessor {
  readonly owner: number;
  /** The claims that the process knows of. The others never reached it: nobody has begun what they are for. */
  readonly held: readonly ClaimRef[];
}

/**
 * Hands the claims of an owner on to the next one of the same process: its handlers go on running, and nothing of what
 * they do was stranded. Called within a transaction, before anybody looks for the dead.
 */
export class Succession {
  readonly #connection: Connection;
  readonly #inherit: Statement;
  readonly #release: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#inherit = connection.prepare(
      `UPDATE queue SET owner = ?1 WHERE owner = ?2 AND state = 2 AND attempts = ?3
        AND seq = (SELECT seq FROM contents WHERE key = ?4 AND id = ?5)`,
    );
    this.#release = connection.prepare(
      `UPDATE queue INDEXED BY queue_held SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
        due_ms = min(due_ms, ?2), owner = NULL, lease_ms = NULL
      WHERE state = 2 AND owner = ?1`,
    );
    this.#remove = connection.prepare('DELETE FROM owners WHERE id = ?');
  }

  succeed(self: number, { owner, held }: Predecessor, nowMs: number, changes: Changes): void {
    for (const { key, id, attempt } of held)
      this.#inherit.run([self, owner, attempt, encodeText(key), encodeText(id)]);
    changes.inFlight -= this.#release.run([owner, nowMs]);
    this.#remove.run([owner]);
    removeLock(this.#connection.location, owner);
  }
}
