import type { ClaimedDelivery, ClaimRef, DeliveryRef, Settlement } from '@webhook-backpressure/inbox';
import { encodeText } from '@webhook-backpressure/inbox/store';
import { intactDeliveryOf, type ContentsRow } from '../records/records.ts';
import { isOfValue, isOutcomeUnknown } from '../server/errors.ts';
import type { Server } from '../server/server.ts';

const SWEEP_MS = 10_000;
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
}

/** How long claims last. */
export interface Lease {
  readonly leaseMs: number;
  readonly nowMs: number;
}

/** A call of `settle_v1`. It is repeated as it was made first. */
interface SettleCall {
  readonly number: number;
  readonly settlements: readonly Settlement[];
  /** The claims that they end, as this owner knew them then. */
  readonly claims: readonly (HeldClaim | undefined)[];
  isRepeated: boolean;
}

/** Makes a call. @param done - calls that the server may forget. */
type Settle = (call: SettleCall, done: readonly number[]) => Promise<readonly boolean[]>;

/**
 * The claims and settlements of an owner that the server may have committed, although no answer arrived.
 *
 * - Such claims belong to this owner, which lives, so no other takes them over. They were never started, so that giving them
 *   back costs no attempt.
 * - Calls with such settlements are repeated under their number, and return what they have returned, or would have. Only
 *   the server knows: meanwhile another process may have claimed the delivery, and its result may have been put back.
 */
export class UnknownOutcomes {
  readonly #server: Server;
  readonly #owner: string;
  /** All claims whose answer arrived, by their deliveries. */
  readonly #held = new Map<string, HeldClaim>();
  /** Calls that may have been committed, by each of their settlements. Weak: one that is given up is not repeated. */
  readonly #unsure = new WeakMap<Settlement, SettleCall>();
  /** Whether the claim was held, of settlements that were repeated. */
  readonly #repeated = new WeakMap<Settlement, boolean>();
  #calls = 0;
  /** Calls that the server may forget: those that were made once. Of others, the first request may still arrive. */
  #done: number[] = [];
  #sweepAt = Infinity;
  #sweepUntil = -Infinity;

  constructor(server: Server, owner: string) {
    this.#server = server;
    this.#owner = owner;
  }

  /** Makes a claim, after stray ones have been given back. */
  async claiming<T>({ leaseMs, nowMs }: Lease, claim: () => Promise<T>): Promise<T> {
    await this.#giveBack(nowMs);
    try {
      return await claim();
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
    for (const [{ attempt, seq }, one] of claimed) this.#held.set(nameOf(one), { attempt, seq });
    return claimed;
  }

  async #bury(damaged: readonly ClaimedRow[], { leaseMs, nowMs }: Lease): Promise<void> {
    const { schema, skew } = this.#server;
    try {
      await this.#server.call('settle_v1', [
        this.#owner,
        null,
        null,
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
   * Makes settlements. Returns whether each claim was held by it or by an earlier try.
   *
   * @param settle - makes a call. Its claims are undefined where there is nothing to end any more.
   */
  async settling(settlements: readonly Settlement[], settle: Settle): Promise<readonly boolean[]> {
    const calls = new Set(settlements.flatMap((one) => this.#unsure.get(one) ?? []));
    const others = settlements.filter((one) => !this.#unsure.has(one) && !this.#repeated.has(one));
    if (others.length > 0) {
      this.#calls += 1;
      calls.add({
        number: this.#calls,
        settlements: others,
        claims: this.heldOf(others),
        isRepeated: false,
      });
    }
    const held = new Map<Settlement, boolean>();
    for (const call of calls) {
      const answers = await this.#call(call, settle);
      for (const [at, one] of call.settlements.entries()) held.set(one, answers[at] === true);
    }
    return settlements.map((one) => held.get(one) ?? this.#repeated.get(one) === true);
  }

  async #call(call: SettleCall, settle: Settle): Promise<readonly boolean[]> {
    const { number, settlements, isRepeated } = call;
    const done = this.#done;
    this.#done = [];
    let held: readonly boolean[];
    try {
      held = await settle({ ...call, claims: this.#currentClaimsOf(call) }, done);
    } catch (error) {
      this.#done.push(...done);
      // The answer to a repeat, such as that it has waited too long for the first request, says nothing about that request.
      const isUnsure = isRepeated ? !isOfValue(error) : isOutcomeUnknown(error);
      call.isRepeated = isUnsure;
      for (const one of settlements)
        if (isUnsure) this.#unsure.set(one, call);
        else this.#unsure.delete(one);
      throw error;
    }
    if (!isRepeated) this.#done.push(number);
    for (const [at, one] of settlements.entries()) {
      if (isRepeated) this.#repeated.set(one, held[at] === true);
      this.#unsure.delete(one);
      this.ended(one, call.claims[at]);
    }
    return held;
  }

  /** Without those that this owner has claimed again since: the call must not end their later claims. */
  #currentClaimsOf({ settlements, claims }: SettleCall): readonly (HeldClaim | undefined)[] {
    return claims.map((claim, at) =>
      claim === this.#held.get(nameOf(settlements[at] as Settlement)) ? claim : undefined,
    );
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
}

function nameOf({ key, id }: DeliveryRef): string {
  return `${String(key.length)} ${key}${id}`;
}
