/** So far one may look ahead at a pace that has just been seen for the first time, in seconds. */
const LEAST_S = 10;
/** Each second for which a pace has lasted is good for so many seconds ahead. */
const PER_SECOND = 4;
/** The same for each second of a burst in which anybody can be. */
const PER_SHARED_SECOND = 2;
/** But no further than this: a flood that has lasted for minutes says nothing about the minutes to come. */
const MOST_SHARED_S = 90;
/** The same for each second in which the process had no time. */
const PER_BUSY_SECOND = 5;
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

/**
 * How many seconds ahead at most in a schedule that anybody can fill, `burstS` seconds after the burst began: for
 * deliveries without a key, and for a key that is new. A flood of such deliveries, which never return, cannot be told
 * from the others, who would have to sit out its schedule.
 */
export function sharedAheadS(burstS: number): number {
  return Math.min(MOST_SHARED_S, LEAST_S + PER_SHARED_SECOND * burstS);
}

/**
 * How many seconds ahead, although the pace is not trusted so far: for a burst in which the process has been late for
 * `busyS` seconds in all. Refusing takes the same CPU as handling. When the requests that come are more than the process
 * can look at, whoever returns soon takes its time from those that are being handled, and from the answers to others,
 * who hang up and come on top; and so it goes on when the burst is long over.
 */
export function relievingS(busyS: number): number {
  return LEAST_S + PER_BUSY_SECOND * busyS;
}
