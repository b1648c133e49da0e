import type { ClaimRef, Settlement } from '../store/inbox-store.ts';

const KINDS = ['completed', 'failed', 'dead', 'released'] as const;

/**
 * Settlements of one owner whose answer was lost, so that they are repeated although the store may have committed them.
 *
 * A delivery that was given back is claimed again under the same attempt, and a repeated settlement would end that claim
 * while its handler runs. So no claim is made while a settlement is repeated, and a settlement is not repeated once its
 * delivery was claimed again, which shows that it was committed.
 */
export class UnknownSettlements {
  readonly #isUnknown: (error: unknown) => boolean;
  /** By name, whether the delivery was claimed again. */
  readonly #claimedAgain = new Map<string, boolean>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param isUnknown - whether a settlement that failed with the error may have been committed. */
  constructor(isUnknown: (error: unknown) => boolean) {
    this.#isUnknown = isUnknown;
  }

  /**
   * Makes a claim.
   *
   * @param claimsOf - the claims in its answer.
   */
  claiming<T>(claim: () => Promise<T>, claimsOf: (answer: T) => Iterable<ClaimRef>): Promise<T> {
    return this.#alone(async () => {
      const answer = await claim();
      if (this.#claimedAgain.size > 0) for (const one of claimsOf(answer)) this.#note(one);
      return answer;
    });
  }

  /**
   * Makes a settlement. Returns whether each claim was held by it or by an earlier try.
   *
   * @param settle - also gets whether a settlement may have been committed by an earlier try.
   */
  settling<S extends Settlement>(
    settlements: readonly S[],
    settle: (some: readonly S[], isRepeated: (one: S) => boolean) => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const isRepeated = (one: S): boolean => this.#claimedAgain.has(nameOf(one, one.as));
    const call = (): Promise<readonly boolean[]> =>
      this.#settle(settlements, (some) => settle(some, isRepeated));
    return this.#claimedAgain.size > 0 && settlements.some(isRepeated) ? this.#alone(call) : call();
  }

  async #settle<S extends Settlement>(
    settlements: readonly S[],
    settle: (some: readonly S[]) => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const committed = this.#committed(settlements);
    const some = settlements.filter((one) => !committed.has(one));
    try {
      const held = some.length === 0 ? [] : await settle(some);
      if (this.#claimedAgain.size === 0) return held;
      for (const one of settlements) this.#claimedAgain.delete(nameOf(one, one.as));
      const results = held.values();
      return settlements.map((one) => committed.has(one) || results.next().value === true);
    } catch (error) {
      if (this.#isUnknown(error))
        for (const one of some) {
          const name = nameOf(one, one.as);
          this.#claimedAgain.set(name, this.#claimedAgain.get(name) === true);
        }
      throw error;
    }
  }

  /** Of two equal ones, the second is that of the later claim. */
  #committed<S extends Settlement>(settlements: readonly S[]): ReadonlySet<S> {
    const byName = new Map<string, S>();
    if (this.#claimedAgain.size > 0)
      for (const one of settlements) {
        const name = nameOf(one, one.as);
        if (this.#claimedAgain.get(name) === true && !byName.has(name)) byName.set(name, one);
      }
    return new Set(byName.values());
  }

  #note(claim: ClaimRef): void {
    for (const as of KINDS) {
      const name = nameOf(claim, as);
      if (this.#claimedAgain.has(name)) this.#claimedAgain.set(name, true);
    }
  }

  /** Calls one after another. */
  #alone<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#last.then(call);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function nameOf({ key, id, attempt }: ClaimRef, as: Settlement['as']): string {
  return JSON.stringify([key, id, attempt, as]);
}
