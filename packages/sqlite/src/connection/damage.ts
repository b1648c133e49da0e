import { isDamage } from './sqlite-errors.ts';

/** Which parts of the file a call may use. */
export interface Access {
  /** Whether it may use the index of keys and ids. */
  readonly usesIds: boolean;
  /** Whether it may delete rows, which can also change neighboring pages. A remaining row keeps its id known. */
  readonly removesRows: boolean;
}

const ACCESSES: readonly [Access, ...Access[]] = [
  { usesIds: true, removesRows: true },
  { usesIds: true, removesRows: false },
  { usesIds: false, removesRows: false },
];

/**
 * Calls `call` with all items in one commit. If that meets a damaged page, it calls `call` for each item in its own
 * commit, with less and less access: a transaction that has met a damaged page can only be rolled back.
 */
export function avoidingDamage<T, R>(
  all: readonly T[],
  call: (some: readonly T[], access: Access) => readonly R[],
): readonly R[] {
  try {
    return call(all, ACCESSES[0]);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return all.flatMap((one) => firstUndamaged(ACCESSES.map((access) => () => call([one], access))));
  }
}

/** @returns the result of the first attempt that meets no damaged page. */
export function firstUndamaged<R>(attempts: readonly (() => R)[]): R {
  let damage: unknown;
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch (error) {
      if (!isDamage(error)) throw error;
      damage = error;
    }
  }
  throw damage;
}
