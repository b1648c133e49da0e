import type { ClaimedDelivery, ClaimOptions, ClaimRef, Settlement } from '@webhook-backpressure/inbox';
import { deliveryOf, type ContentsRow } from '../records/contents.ts';
import { idHash } from '../records/id-hash.ts';
import { encodeText } from '../records/text.ts';
import { isOutcomeUnknown } from '../server/errors.ts';
import type { Presence } from '../server/presence.ts';
import type { Server } from '../server/server.ts';
import { ScanPlan, type Scan } from './scan-plan.ts';
import { SlowLook } from './slow-look.ts';
import type { StrayClaims } from './stray-claims.ts';
import { UnknownSettlements } from './unknown-settlements.ts';

interface ClaimedRow extends ContentsRow {
  readonly attempt: number;
  readonly strandings: number;
  readonly is_turn: boolean;
  readonly due_ms: number;
  readonly seq: number;
  readonly visited: number;
}

/** The last row of a claim. */
interface EndRow {
  readonly key: null;
  readonly seq: number;
  readonly visited: number;
}

interface Held {
  readonly held: readonly boolean[];
}

/** Claims due deliveries from the keys in turn, renews claims, and settles them. */
export class Claims {
  readonly #server: Server;
  readonly #owner: number;
  readonly #presence: Presence;
  readonly #strays: StrayClaims;
  readonly #unknown: UnknownSettlements;
  readonly #plan: ScanPlan = new ScanPlan();
  readonly #slowLook: SlowLook = new SlowLook();
  /** The key claimed last, as stored. */
  #lastKey: string | null = null;

  /** @param strays - those of this owner, also of other ways to claim. */
  constructor(server: Server, owner: number, presence: Presence, strays: StrayClaims) {
    this.#server = server;
    this.#owner = owner;
    this.#presence = presence;
    this.#strays = strays;
    this.#unknown = new UnknownSettlements(server);
  }

  async claim(count: number, options: ClaimOptions): Promise<readonly ClaimedDelivery[]> {
    const { nowMs, except } = options;
    this.#slowLook.end();
    const dead = await this.#presence.dead();
    await this.#strays.giveBack(nowMs);
    const hasSkipped = except.size > 0;
    const scan = this.#plan.next(nowMs, hasSkipped);
    const startedMs = performance.now();
    const answer = await this.#claim(count, options, dead, scan);
    const endedMs = performance.now();
    const rows = answer.filter((row): row is ClaimedRow => row.key !== null);
    const turns = rows.filter(({ is_turn: isTurn }) => isTurn);
    this.#lastKey = turns.at(-1)?.key ?? this.#lastKey;
    // Absent while everything is paused.
    const end = answer.find((row): row is EndRow => row.key === null);
    if (end !== undefined)
      this.#plan.note({
        ...{ scan, nowMs, startedMs, endedMs, hasSkipped, visited: end.visited, lastSeq: end.seq },
        isShort: rows.length < count,
        turns: turns.map(({ key, due_ms: dueMs, seq, visited }) => ({ key, dueMs, seq, visited })),
      });
    const claimed = rows.map((row) => ({
      ...deliveryOf(row),
      attempt: row.attempt,
      strandings: row.strandings,
    }));
    this.#strays.claimed(claimed);
    return claimed;
  }

  async #claim(
    count: number,
    { leaseMs, nowMs, maxStranded, except }: ClaimOptions,
    dead: readonly string[],
    { isFull, after, floors }: Scan,
  ): Promise<readonly (ClaimedRow | EndRow)[]> {
    const { skew } = this.#server;
    // In the order of the index.
    const sorted = [...floors].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    try {
      return await this.#server.rows('claim_v1', [
        ...[this.#owner, count, leaseMs, skew.toServer(nowMs), maxStranded],
        [...except].map(encodeText),
        ...[this.#lastKey, dead, isFull, after],
        sorted.map(([key]) => key),
        sorted.map(([, { dueMs }]) => dueMs),
        sorted.map(([, { seq }]) => seq),
      ]);
    } catch (error) {
      if (isOutcomeUnknown(error)) this.#strays.lost(leaseMs);
      throw error;
    }
  }

  async nextDueMs(except: ReadonlySet<string> = new Set()): Promise<number | undefined> {
    const dueMs = this.#plan.nextDueMs ?? this.#slowLook.dueMs ?? (await this.#look(except));
    return dueMs === Infinity ? undefined : dueMs;
  }

  /** Infinity: never. */
  async #look(except: ReadonlySet<string>): Promise<number> {
    const { due_ms: due, visited } = await this.#server.call<{ due_ms: number | null; visited: number }>(
      'next_due_v1',
      [this.#owner, [...except].map(encodeText)],
    );
    const dueMs = due === null ? Infinity : due === -Infinity ? 0 : this.#server.skew.fromServer(due);
    this.#slowLook.note(dueMs, visited);
    return dueMs;
  }

  async renew(
    claims: readonly ClaimRef[],
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): Promise<readonly boolean[]> {
    if (claims.length === 0) return [];
    const { held } = await this.#server.call<Held>('renew_v1', [
      this.#owner,
      this.#server.skew.toServer(nowMs) + leaseMs,
      claims.map(idHash),
      claims.map(({ attempt }) => attempt),
    ]);
    this.#forget(claims, held, false);
    return held;
  }

  async settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    if (settlements.length === 0) return [];
    try {
      const held = await this.#settle(settlements, nowMs);
      this.#forget(settlements, held, true);
      return await this.#unknown.resolve(settlements, held);
    } catch (error) {
      if (isOutcomeUnknown(error)) this.#unknown.lost(settlements);
      throw error;
    }
  }

  async #settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    const { skew } = this.#server;
    const { held } = await this.#server.call<Held>('settle_v1', [
      this.#owner,
      skew.toServer(nowMs),
      settlements.map(idHash),
      settlements.map(({ attempt }) => attempt),
      settlements.map(({ as }) => as),
      settlements.map((one) =>
        'retryAtMs' in one && one.retryAtMs !== undefined ? skew.toServer(one.retryAtMs) : null,
      ),
      settlements.map((one) => ('error' in one ? encodeText(one.error) : '')),
      settlements.map((one) =>
        one.as === 'completed' ? one.keep : one.as === 'failed' && one.isRepeated === true,
      ),
    ]);
    return held;
  }

  /** Ended claims are not held any more. */
  #forget(claims: readonly ClaimRef[], held: readonly boolean[], isEnd: boolean): void {
    for (const [at, one] of claims.entries()) {
      if (isEnd || held[at] !== true) this.#strays.ended(one);
    }
  }

  async hasten({
    key,
    afterMs,
    nowMs,
    limit,
  }: {
    key?: string | undefined;
    afterMs: number;
    nowMs: number;
    limit: number;
  }): Promise<number> {
    const { schema, skew } = this.#server;
    // The form of the condition is that of the index `queue_key_waiting`.
    const which = key === undefined ? 'state = 1' : 'state - 0 = 1 AND key = $4';
    const rows = await this.#server.query(
      `UPDATE ${schema}.queue SET due_ms = $1 WHERE seq IN (
        SELECT seq FROM ${schema}.queue WHERE ${which} AND due_ms > $2 LIMIT $3 FOR UPDATE SKIP LOCKED
      ) RETURNING 1`,
      [skew.toServer(nowMs), skew.toServer(afterMs), limit, ...(key === undefined ? [] : [encodeText(key)])],
    );
    return rows.length;
  }
}
