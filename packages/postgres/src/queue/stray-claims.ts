import type { DeliveryRef } from '@webhook-backpressure/inbox';
import { idHash } from '../records/id-hash.ts';
import type { Server } from '../server/server.ts';

const SWEEP_MS = 10_000;

/**
 * Claims that the server has committed, and whose answer was lost: this owner lives, so no other takes them over. They
 * were never started, so that giving them back costs no attempt.
 */
export class StrayClaims {
  readonly #server: Server;
  readonly #owner: number;
  /** The hashes of all claims whose answer arrived. */
  readonly #held = new Set<string>();
  #sweepAt = Infinity;
  #sweepUntil = -Infinity;

  constructor(server: Server, owner: number) {
    this.#server = server;
    this.#owner = owner;
  }

  claimed(claims: readonly DeliveryRef[]): void {
    for (const one of claims) this.#held.add(idHash(one));
  }

  ended(one: DeliveryRef): void {
    this.#held.delete(idHash(one));
  }

  /** Call it when the outcome of a claim is unknown. The server may still run its statement. */
  lost(leaseMs: number): void {
    const now = performance.now();
    this.#sweepAt = now;
    this.#sweepUntil = now + leaseMs;
  }

  /** Gives stray claims back, if there may be some. Call it before a claim. */
  async giveBack(nowMs: number): Promise<void> {
    const now = performance.now();
    if (now < this.#sweepAt) return;
    const { schema, skew } = this.#server;
    await this.#server.query(
      `UPDATE ${schema}.queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
        due_ms = least(due_ms, $2), owner = NULL, lease_ms = NULL
      WHERE state = 2 AND owner = $1 AND seq <> ALL (ARRAY(SELECT seq FROM ${schema}.ids WHERE hash = ANY ($3)))`,
      [this.#owner, skew.toServer(nowMs), [...this.#held]],
    );
    this.#sweepAt = now < this.#sweepUntil ? now + SWEEP_MS : Infinity;
  }
}
