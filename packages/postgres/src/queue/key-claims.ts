import type { DueKeys, KeyClaim, KeyWant } from '@webhook-backpressure/inbox';
import { deliveryOf, type ContentsRow } from '../records/contents.ts';
import { decodeText, encodeText } from '../records/text.ts';
import { isOutcomeUnknown } from '../server/errors.ts';
import type { Presence } from '../server/presence.ts';
import type { Server } from '../server/server.ts';
import { KeyFloors } from './key-floors.ts';
import type { StrayClaims } from './stray-claims.ts';

interface ClaimedRow extends ContentsRow {
  readonly want: number;
  readonly attempt: number;
  readonly strandings: number;
  readonly due_ms: number;
  readonly seq: number;
}

/** When there is more of a want; with `visited`, of the whole call. */
interface NextRow {
  readonly want: number;
  readonly id: null;
  readonly next_ms: number | null;
  readonly visited: number | null;
}

interface Lease {
  readonly leaseMs: number;
  readonly nowMs: number;
}

/** Claims deliveries of named keys, and lists keys that are due. */
export class KeyClaims {
  readonly #server: Server;
  readonly #owner: number;
  readonly #presence: Presence;
  readonly #strays: StrayClaims;
  readonly #floors: KeyFloors = new KeyFloors();

  constructor(server: Server, owner: number, presence: Presence, strays: StrayClaims) {
    this.#server = server;
    this.#owner = owner;
    this.#presence = presence;
    this.#strays = strays;
  }

  async claim(wants: readonly KeyWant[], lease: Lease): Promise<readonly KeyClaim[]> {
    if (wants.length === 0) return [];
    await this.#strandDead();
    await this.#strays.giveBack(lease.nowMs);
    const nowMs = this.#server.skew.toServer(lease.nowMs);
    const looks = wants.map(({ key }) => this.#floors.lookAt(key, nowMs));
    const startedMs = performance.now();
    const rows = await this.#rows(wants, lease, looks);
    const tookMs = performance.now() - startedMs;
    const claimed = wants.map((): ClaimedRow[] => []);
    const nextMs: (number | null)[] = [];
    let visited = 0;
    for (const row of rows) {
      if (row.id !== null) claimed[row.want - 1]?.push(row);
      else if (row.visited === null) nextMs[row.want - 1] = row.next_ms;
      else visited = row.visited;
    }
    const found = wants.map(({ key }, at) => {
      const rowsOfKey = claimed[at] ?? [];
      const last = rowsOfKey.findLast(({ strandings }) => strandings === 0);
      return {
        ...{ key, isFull: looks[at]?.isFull ?? true, claims: rowsOfKey.length },
        last: last === undefined ? undefined : { dueMs: last.due_ms, seq: last.seq },
      };
    });
    this.#floors.note(found, visited, nowMs, tookMs);
    return found.map(({ key, isFull }, at) => {
      const deliveries = (claimed[at] ?? []).map((row) => ({
        ...deliveryOf(row),
        attempt: row.attempt,
        strandings: row.strandings,
      }));
      this.#strays.claimed(deliveries);
      // Absent: the key is paused.
      const next = nextMs[at];
      const dueMs = next ?? (next === null && !isFull ? this.#floors.fullAgainMs(key) : undefined);
      return { key, claimed: deliveries, nextDueMs: this.#localMs(dueMs) };
    });
  }

  async #rows(
    wants: readonly KeyWant[],
    { leaseMs, nowMs }: Lease,
    looks: readonly ReturnType<KeyFloors['lookAt']>[],
  ): Promise<readonly (ClaimedRow | NextRow)[]> {
    try {
      return await this.#server.rows('claim_keys_v1', [
        ...[this.#owner, leaseMs, this.#server.skew.toServer(nowMs)],
        wants.map(({ key }) => encodeText(key)),
        wants.map(({ count }) => count),
        wants.map(({ isHeadOnly }) => isHeadOnly),
        looks.map(({ isFull }) => isFull),
        looks.map(({ floor }) => floor.dueMs),
        looks.map(({ floor }) => floor.seq),
      ]);
    } catch (error) {
      if (isOutcomeUnknown(error)) this.#strays.lost(leaseMs);
      throw error;
    }
  }

  async due({
    after,
    limit,
    dueByMs,
  }: {
    readonly after: string | undefined;
    readonly limit: number;
    readonly dueByMs: number;
  }): Promise<DueKeys> {
    await this.#strandDead();
    const rows = await this.#server.rows<{ key: string | null; next_ms: number | null }>('due_keys_v1', [
      ...[this.#owner, after === undefined ? null : encodeText(after), limit],
      this.#server.skew.toServer(dueByMs),
    ]);
    const last = rows.at(-1)?.key ?? undefined;
    return {
      keys: rows.slice(0, -1).map(({ key, next_ms: nextMs }) => ({
        key: decodeText(key ?? ''),
        nextDueMs: this.#localMs(nextMs ?? 0) ?? 0,
      })),
      next: last === undefined ? undefined : decodeText(last),
    };
  }

  /** The time of this machine; -Infinity is in the past. */
  #localMs(serverMs: number | undefined): number | undefined {
    if (serverMs === undefined) return undefined;
    return serverMs === -Infinity ? 0 : this.#server.skew.fromServer(serverMs);
  }

  async #strandDead(): Promise<void> {
    const dead = await this.#presence.dead();
    if (dead.length > 0) await this.#server.rows('strand_dead_v1', [dead]);
  }
}
