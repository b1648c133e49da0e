import { POOL, WARM_UP } from './setup.ts';

/** A warm-up that takes up to this many times its ideal time is ordinary. */
const ORDINARY_SLOWDOWN = 1.4;
/** An import of fewer deliveries would not fill the queue. */
const FEWEST = 500;
const SMALLER_BY = 4;

/** How many seconds the warm-up takes on an idle machine. */
export const IDEAL_WARM_UP_S =
  ((WARM_UP.deliveries / WARM_UP.atOnce) * (POOL.queryFromMs + POOL.queryToMs)) / 2 / 1000;

/**
 * How many deliveries an import should have, so that the demo takes half a minute on a busy machine as well.
 *
 * @param wanted - the number on an idle machine.
 * @param warmUpS - how many seconds the warm-up took.
 * @param idealS - how many it takes on an idle machine.
 */
export function fittingSize(wanted: number, warmUpS: number, idealS: number = IDEAL_WARM_UP_S): number {
  const slowdown = warmUpS / idealS;
  if (slowdown <= ORDINARY_SLOWDOWN) return wanted;
  return Math.min(wanted, Math.max(FEWEST, Math.round(wanted / slowdown / 100) * 100));
}

/** The next smaller size after a run that took too long; undefined when there is none. */
export function smallerSize(deliveries: number): number | undefined {
  return deliveries <= FEWEST ? undefined : Math.max(FEWEST, Math.round(deliveries / SMALLER_BY));
}
