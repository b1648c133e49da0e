/** So far one may look ahead at a pace that has just been seen for the first time, in seconds. */
const LEAST_S = 10;
/** Each second for which a pace has lasted is good for so many seconds ahead. */
const PER_SECOND = 4;
/** From here on, at {@link LEAST_S} and {@link PER_SECOND}, trust grows with the square: the pace is no episode. */
const SQUARE_OVER_S = 10;

/**
 * How many seconds ahead a second may be booked at a pace that has lasted for `measuredS` seconds: four times as far
 * ahead as one has looked back, and 10 s; from some 43 s on, a tenth of the square. 10 s ahead at first, 50 s after
 * 10 s, 360 s after a minute.
 *
 * A booked second cannot be called back. A pace of a few seconds that turns out to have been a cold start or a pause
 * would keep the workers idle until the last of those that were sent away by it return, whereas a delivery that
 * returns early costs one more refusal. So this errs on the side of early.
 */
export function lookAheadS(measuredS: number): number {
  return Math.max(LEAST_S + PER_SECOND * measuredS, (measuredS * measuredS) / SQUARE_OVER_S);
}
