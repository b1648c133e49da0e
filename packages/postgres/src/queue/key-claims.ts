import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type { DueKeys, InboxStore, KeyClaim, KeyClaimOptions, KeyWant } from '@webhook-backpressure/inbox';
import type { Presence } from '../server/presence.ts';
import type { Server } from '../server/server.ts';
import { KeyFloors } from './slow-scans.ts';
import type { ClaimedRow, UnknownOutcomes } from './unknown-outcomes.ts';

interface WantedRow extends ClaimedRow {
  readonly want: number;
}

/** When there is more of a want; with `visited`, of the whole call. */
interface NextRow {
  readonly want: number;
  readonly id: null;
  readonly next_ms: number | null;
  readonly visited: number | null;
}

/** Claims deliveries of named keys, and lists keys that are due. */
export class KeyClaims {
  readonly #server: Server;
  readonly #owner: string;
  readonly #presence: Presence;
  readonly #outcomes: UnknownOutcomes;
  readonly #floors: KeyFloors = new KeyFloors();

  constructor(server: Server, owner: string, presence: Presence, outcomes: UnknownOutcomes) {
    this.#server = server;
    this.#owner = owner;
    this.#presence = presence;
    this.#outcomes = outcomes;
  }

  async claim(wants: readonly KeyWant[], lease: KeyClaimOptions): Promise<readonly KeyClaim[]> {
    if (wants.length === 0) return [];
    await this.#strandDead();
    const nowMs = this.#server.skew.toServer(lease.nowMs);
    const looks = wants.map(({ key }) => this.#floors.lookAt(key, nowMs));
    const isNewest = lease.isNewestFirst === true && this.#floors.mayStartNewest(looks, nowMs);
    let startedMs = 0;
    const rows = await this.#outcomes.claiming(lease, () => {
      startedMs = performance.now();
      return this.#server.rows<WantedRow | NextRow>(isNewest ? 'claim_newest_v1' : 'claim_keys_v1', [
        this.#owner,
        lease.leaseMs,
        nowMs,
        wants.map(({ key }) => encodeText(key)),
        wants.map(({ count }) => count),
        wants.map(({ isHeadOnly }) => isHeadOnly),
        looks.map(({ isFull }) => isFull),
        looks.map(({ floor }) => floor.dueMs),
        looks.map(({ floor }) => floor.seq),
        wants.map(({ maxHeld }) => maxHeld ?? null),
        lease.maxStranded ?? null,
        lease.maxStrandings ?? null,
      ]);
    });
    const tookMs = performance.now() - startedMs;
    const claimed = wants.map((): WantedRow[] => []);
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
        key,
        isFull: looks[at]?.isFull ?? true,
        claims: rowsOfKey.length,
        last: last === undefined ? undefined : { dueMs: last.due_ms, seq: last.seq },
      };
    });
    this.#floors.note(found, { visited, nowMs, tookMs, isNewest });
    const readable = await this.#outcomes.claimed(claimed.flat(), lease);
    return found.map(({ key, isFull }, at) => {
      const deliveries = (claimed[at] ?? []).flatMap((row) => readable.get(row) ?? []);
      // Absent: the key is paused.
      const next = nextMs[at];
      const dueMs = next ?? (next === null && !isFull ? this.#floors.fullAgainMs(key) : undefined);
      return { key, claimed: deliveries, nextDueMs: this.#localMs(dueMs) };
    });
  }

  async due({ after, limit, dueByMs }: Parameters<InboxStore['dueKeys']>[0]): Promise<DueKeys> {
    await this.#strandDead();
    const rows = await this.#server.rows<{ key: string | null; next_ms: number | null }>('due_keys_v1', [
      this.#owner,
      after === undefined ? null : encodeText(after),
      limit,
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
