import { isDamage } from './failure.ts';

/** Which pages of what is stored a call touches. */
export interface Way {
  /** The index of keys and ids. */
  readonly usesIds: boolean;
  /** Takes rows out, by which pages beside theirs can change too. What is left of one keeps its id known. */
  readonly removesRows: boolean;
}

const WAYS: readonly [Way, ...Way[]] = [
  { usesIds: true, removesRows: true },
  { usesIds: true, removesRows: false },
  { usesIds: false, removesRows: false },
];

/**
 * What `call` does to all of them in one commit; where that meets a damaged page, to each in one of its own, past the
 * damage. A transaction that has met one can do nothing any more but end.
 */
export function around<T, R>(
  all: readonly T[],
  call: (some: readonly T[], way: Way) => readonly R[],
): readonly R[] {
  try {
    return call(all, WAYS[0]);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return all.flatMap((one) => pastDamage(WAYS.map((way) => () => call([one], way))));
  }
}

/** What the first attempt returns that meets no damaged page. */
export function pastDamage<R>(attempts: readonly (() => R)[]): R {
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
