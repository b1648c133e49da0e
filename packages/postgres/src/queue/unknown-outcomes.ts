import type { ClaimedDelivery, ClaimRef, DeliveryRef, Settlement } from '@webhook-backpressure/inbox';
import {
  type ClaimAgain,
  UnknownSettlements,
  decodeText,
  encodeText,
} from '@webhook-backpressure/inbox/store';
import { idHash, intactDeliveryOf, type ContentsRow } from '../records/records.ts';
import { isOutcomeUnknown } from '../server/errors.ts';
import type { Server } from '../server/server.ts';

const SWEEP_MS = 10_000;
const CLAIMED = 2;
const WHY = 'The row of this delivery cannot be read: it was changed by another program.';

/** A row of a claimed delivery. */
export interface ClaimedRow extends ContentsRow {
  readonly attempt: number;
  readonly strandings: number;
  readonly seq: number;
  readonly due_ms: number;
}

/** A claim whose answer arrived. */
interface HeldClaim {
  readonly attempt: number;
  readonly seq: number;
  readonly dueMs: number;
}

/** A row beside those of claimed deliveries. */
interface NoDelivery {
  readonly id: null;
}

/** How long claims last. */
export interface Lease {
  readonly leaseMs: number;
  readonly nowMs: number;
}

/** A row of a delivery in the queue. */
interface QueueRow {
  readonly state: number;
  readonly attempts: number;
  readonly seq: number;
  readonly due_ms: number;
}

/**
 * The claims and settlements of an owner that the server may have committed, although no answer arrived.
 *
 * - Such claims belong to this owner, which lives, so no other takes them over. They were never started, so that giving them
 *   back costs no attempt.
 * - When such a settlement is repeated, its claim is not held any more, which must not look as if another process had taken
 *   it over. It must not end a later claim either: see {@link UnknownSettlements}.
 */
export class UnknownOutcomes {
  readonly #server: Server;
  readonly #owner: string;
  /** All claims whose answer arrived, by their deliveries. */
  readonly #held = new Map<string, HeldClaim>();
  readonly #settlements = new UnknownSettlements(isOutcomeUnknown);
  #sweepAt = Infinity;
  #sweepUntil = -Infinity;

  constructor(server: Server, owner: string) {
    this.#server = server;
    this.#owner = owner;
  }

  /** Makes a claim, after stray ones have been given back. */
  async claiming<R extends ClaimedRow | NoDelivery>(
    { leaseMs, nowMs }: Lease,
    claim: () => Promise<readonly R[]>,
  ): Promise<readonly R[]> {
    await this.#giveBack(nowMs);
    try {
      return await this.#settlements.claiming(claim, (rows) => this.#claimsIn(rows));
    } catch (error) {
      // The server may still run its statement.
      if (isOutcomeUnknown(error)) this.#sweep(leaseMs);
      throw error;
    }
  }

  /**
   * The deliveries of a claim that was answered, without those that cannot be read, which it makes dead letters: no handler
   * could handle them.
   */
  async claimed<R extends ClaimedRow>(
    rows: readonly R[],
    lease: Lease,
  ): Promise<ReadonlyMap<R, ClaimedDelivery>> {
    const claimed = new Map<R, ClaimedDelivery>();
    const damaged: R[] = [];
    for (const row of rows) {
      const { attempt, strandings } = row;
      const delivery = intactDeliveryOf(row);
      if (delivery === undefined) damaged.push(row);
      else claimed.set(row, { ...delivery, attempt, strandings });
    }
    if (damaged.length > 0) await this.#bury(damaged, lease);
    for (const [{ attempt, seq, due_ms: dueMs }, one] of claimed)
      this.#held.set(nameOf(one), { attempt, seq, dueMs });
    return claimed;
  }

  async #bury(damaged: readonly ClaimedRow[], { leaseMs, nowMs }: Lease): Promise<void> {
    const { schema, skew } = this.#server;
    try {
      await this.#server.call('settle_v1', [
        this.#owner,
        skew.toServer(nowMs),
        damaged.map(({ seq }) => seq),
        damaged.map(({ attempt }) => attempt),
        damaged.map(() => 'dead'),
        damaged.map(() => null),
        damaged.map(() => encodeText(WHY)),
        damaged.map(() => false),
      ]);
    } catch (error) {
      this.#sweep(leaseMs);
      throw error;
    }
    this.#server.report({
      type: 'warning',
      code: 'WBP_POSTGRES_UNREADABLE',
      message: `Another program has changed rows of the schema ${schema}, which cannot be read: ${String(damaged.length)}. They are dead letters now.`,
    });
  }

  #sweep(leaseMs: number): void {
    this.#sweepAt = performance.now();
    this.#sweepUntil = this.#sweepAt + leaseMs;
  }

  /** The claims of deliveries that this owner holds. */
  heldOf(deliveries: readonly DeliveryRef[]): readonly (HeldClaim | undefined)[] {
    return deliveries.map((one) => this.#held.get(nameOf(one)));
  }

  /**
   * This owner does not hold the claim any more. Meanwhile it may have claimed the delivery again, also with the same number
   * of attempts if it had given it back.
   *
   * @param held - of {@link heldOf}, before the claim was ended.
   */
  ended(one: ClaimRef, held: HeldClaim | undefined): void {
    const name = nameOf(one);
    if (held?.attempt === one.attempt && this.#held.get(name) === held) this.#held.delete(name);
  }

  /** Looks for an unfinished delivery. If there is none, a transaction of the application has ended its claim. */
  async looking<T>(ref: DeliveryRef, look: () => Promise<T | undefined>): Promise<T | undefined> {
    const name = nameOf(ref);
    const claim = this.#held.get(name);
    const found = await look();
    if (found === undefined && this.#held.get(name) === claim) this.#held.delete(name);
    return found;
  }

  /**
   * Makes a settlement. Returns whether each claim was held by it or by an earlier try.
   *
   * @param settle - also gets {@link heldOf} of them.
   */
  settling(
    settlements: readonly Settlement[],
    settle: (
      some: readonly Settlement[],
      before: readonly (HeldClaim | undefined)[],
    ) => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    return this.#settlements.settling(settlements, async (some, isRepeated) => {
      const before = this.heldOf(some);
      const held = await settle(some, before);
      const repeated = some.flatMap((one, at) =>
        held[at] !== true && isRepeated(one) ? [{ one, before: before[at] }] : [],
      );
      const rows = repeated.length === 0 ? [] : await this.#rowsOf(repeated.map(({ one }) => one));
      const done = new Set(
        repeated.flatMap(({ one, before: claim }, at) => (this.#isDone(one, claim, rows[at]) ? [one] : [])),
      );
      return some.map((one, at) => held[at] === true || done.has(one));
    });
  }

  #claimsIn(rows: readonly (ClaimedRow | NoDelivery)[]): readonly ClaimAgain[] {
    return rows.flatMap((row) => {
      if (row.id === null) return [];
      const ref = { key: decodeText(row.key), id: decodeText(row.id), attempt: row.attempt };
      const before = this.#held.get(nameOf(ref));
      return [{ ...ref, isPutBack: before && isPutBack(before, row) }];
    });
  }

  async #giveBack(nowMs: number): Promise<void> {
    const now = performance.now();
    if (now < this.#sweepAt) return;
    const { schema, skew } = this.#server;
    await this.#server.query(
      `UPDATE ${schema}.queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
        due_ms = least(due_ms, $2), owner = NULL, lease_ms = NULL
      WHERE state = 2 AND owner = $1 AND seq <> ALL ($3)`,
      [this.#owner, skew.toServer(nowMs), Array.from(this.#held.values(), ({ seq }) => seq)],
    );
    this.#sweepAt = now < this.#sweepUntil ? now + SWEEP_MS : Infinity;
  }

  /** @param row - undefined: it has left the queue. */
  #isDone(one: Settlement, before: HeldClaim | undefined, row: QueueRow | undefined): boolean {
    if (one.as === 'completed' || one.as === 'dead') {
      if (row === undefined || before === undefined) return row === undefined;
      return isPutBack(before, { ...row, attempt: row.attempts + Number(row.state !== CLAIMED) });
    }
    const { retryAtMs } = one;
    // The time has a fraction at random, so that no other owner has set the same.
    return retryAtMs !== undefined && row?.due_ms === this.#server.skew.toServer(retryAtMs);
  }

  async #rowsOf(settlements: readonly Settlement[]): Promise<readonly (QueueRow | undefined)[]> {
    const { schema } = this.#server;
    const rows = await this.#server.query<{ [K in keyof QueueRow]: QueueRow[K] | null }>(
      `SELECT q.state, q.attempts, q.seq::double precision, q.due_ms FROM unnest($1::uuid[]) WITH ORDINALITY AS p(hash, at)
      LEFT JOIN ${schema}.ids i ON i.hash = p.hash LEFT JOIN ${schema}.queue q ON q.seq = i.seq ORDER BY p.at`,
      [settlements.map(idHash)],
    );
    return rows.map((row) => (row.state === null ? undefined : (row as QueueRow)));
  }
}

/**
 * Whether the delivery of a claim was put back: stored anew, or as a dead letter or kept delivery that is due from then on,
 * with all attempts. Otherwise a failover has undone the claim, or its lease ran out.
 *
 * @param next - the next attempt, or the one in progress.
 */
function isPutBack(
  before: HeldClaim,
  { seq, attempt, due_ms: dueMs }: Pick<ClaimedRow, 'seq' | 'attempt' | 'due_ms'>,
): boolean {
  return seq !== before.seq || (attempt <= before.attempt && dueMs !== before.dueMs);
}

function nameOf({ key, id }: DeliveryRef): string {
  return `${String(key.length)} ${key}${id}`;
}
