import type { ClaimRef, Settlement } from '../store/inbox-store.ts';

/** A settlement that may have been committed, although no answer has arrived. */
interface Unknown {
  /** Whether its call has failed, so that it is repeated. */
  hasFailed: boolean;
  /** Whether its claim was held. Known once its delivery was claimed again. */
  isHeld: boolean | undefined;
}

/** A delivery that an owner has claimed. */
export interface ClaimAgain extends ClaimRef {
  /** Whether the delivery had ended, and was put back, since this owner claimed it before. Absent: not known. */
  readonly isPutBack?: boolean | undefined;
}

/**
 * Settlements of one owner whose answer is late or lost. One that is lost is repeated, as the same object.
 *
 * A delivery that was given back, or has ended and was put back, is claimed again under the same attempt, and a repeated
 * settlement would end that claim while its handler runs. So no claim is made while a settlement is repeated, and a
 * settlement is not repeated once its delivery was claimed again.
 */
export class UnknownSettlements {
  readonly #mayBeCommitted: (error: unknown) => boolean;
  readonly #unknown = new Map<Settlement, Unknown>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param mayBeCommitted - whether a call that failed with the error may have been committed. */
  constructor(mayBeCommitted: (error: unknown) => boolean) {
    this.#mayBeCommitted = mayBeCommitted;
  }

  /**
   * Makes a claim.
   *
   * @param claimsOf - the claims in its answer.
   */
  claiming<T>(claim: () => Promise<T>, claimsOf: (answer: T) => Iterable<ClaimAgain>): Promise<T> {
    return this.#alone(async () => {
      const answer = await claim();
      if (this.#unknown.size > 0) this.#claimed(claimsOf(answer));
      return answer;
    });
  }

  /**
   * Makes a settlement. Returns whether each claim was held by it or by an earlier try.
   *
   * @param settle - also gets whether a settlement may have been committed by an earlier try.
   */
  settling(
    settlements: readonly Settlement[],
    settle: (
      some: readonly Settlement[],
      isRepeated: (one: Settlement) => boolean,
    ) => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const isRepeated = (one: Settlement): boolean => this.#unknown.get(one)?.hasFailed === true;
    const call = (): Promise<readonly boolean[]> =>
      this.#settle(settlements, (some) => settle(some, isRepeated));
    return this.#unknown.size > 0 && settlements.some(isRepeated) ? this.#alone(call) : call();
  }

  async #settle(
    settlements: readonly Settlement[],
    settle: (some: readonly Settlement[]) => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const some =
      this.#unknown.size === 0
        ? settlements
        : settlements.filter((one) => this.#unknown.get(one)?.isHeld === undefined);
    for (const one of some) this.#note(one);
    let held: readonly boolean[];
    try {
      held = some.length === 0 ? [] : await settle(some);
    } catch (error) {
      const isUnknown = this.#mayBeCommitted(error);
      for (const one of some) {
        if (isUnknown) this.#note(one).hasFailed = true;
        else if (this.#unknown.get(one)?.hasFailed === false) this.#unknown.delete(one);
      }
      throw error;
    }
    const answers = some === settlements ? held : this.#merged(settlements, some, held);
    for (const one of settlements) this.#unknown.delete(one);
    return answers;
  }

  #merged(
    settlements: readonly Settlement[],
    sent: readonly Settlement[],
    held: readonly boolean[],
  ): readonly boolean[] {
    const answers = new Map(sent.map((one, at) => [one, held[at] === true]));
    return settlements.map((one) => answers.get(one) ?? this.#unknown.get(one)?.isHeld === true);
  }

  #note(one: Settlement): Unknown {
    const unknown = this.#unknown.get(one) ?? { hasFailed: false, isHeld: undefined };
    this.#unknown.set(one, unknown);
    return unknown;
  }

  #claimed(claims: Iterable<ClaimAgain>): void {
    const found = new Map(Array.from(claims, (claim) => [nameOf(claim), claim]));
    for (const [one, unknown] of this.#unknown) {
      const again = found.get(nameOf(one));
      if (again === undefined || unknown.isHeld !== undefined) continue;
      // One that has ended is claimed again if it was put back. Otherwise its lease ran out, or a failover has undone its
      // claim. Where that is not known: a dead letter that was put back begins with the first attempt again.
      const { isPutBack = one.as === 'dead' && again.attempt <= one.attempt } = again;
      unknown.isHeld = one.as === 'failed' || one.as === 'released' || isPutBack;
    }
  }

  /** Calls one after another. */
  #alone<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#last.then(call);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function nameOf({ key, id }: ClaimRef): string {
  return JSON.stringify([key, id]);
}
