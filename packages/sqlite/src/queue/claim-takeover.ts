import type { ClaimRef } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { removeLock } from '../file/owner-lock.ts';
import { encodeText } from '../tables/text.ts';
import type { Changes } from '../tables/totals.ts';

/** An owner whose thread has ended, while its process is still handling claimed deliveries. */
export interface Predecessor {
  readonly owner: number;
  /** The claims that reached the process. The deliveries of the others have not been started. */
  readonly held: readonly ClaimRef[];
}

/**
 * Transfers the claims of an owner to the next owner of the same process, whose handlers keep running, so that they are
 * not stranded. Call it within a transaction, before dead owners are removed.
 */
export class ClaimTakeover {
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

  takeOver(self: number, { owner, held }: Predecessor, nowMs: number, changes: Changes): void {
    for (const { key, id, attempt } of held)
      this.#inherit.run([self, owner, attempt, encodeText(key), encodeText(id)]);
    changes.inFlight -= this.#release.run([owner, nowMs]);
    this.#remove.run([owner]);
    removeLock(this.#connection.location, owner);
  }
}
