/** The horizon for a pace that has just been measured, in seconds. */
const LEAST_S = 10;
/** The horizon grows by this many seconds for each second that the pace has lasted, … */
const PER_SECOND = 4;
/** … for each second of a burst that any sender can be part of, … */
const PER_SHARED_SECOND = 2;
/** … up to this maximum, as a flood that has lasted for minutes says nothing about the next minutes, … */
const MOST_SHARED_S = 90;
/** … and for each second in which the process was late. */
const PER_BUSY_SECOND = 5;
/** For a pace that has lasted long enough, the horizon is the square of that time divided by this, … */
const SQUARE_OVER_S = 10;
/** … up to this many times that time: a pace of five minutes says nothing about the next hours. */
const MOST_TIMES = 10;

/**
 * How many seconds ahead a retry may be booked at a pace that has lasted for `measuredS` seconds: 10 s plus four times
 * that time; from about 43 s on, a tenth of its square, and from 100 s on, ten times that time. That is 10 s at first,
 * 50 s after 10 s, 360 s after a minute, and an hour after six minutes.
 *
 * A booking cannot be revoked. If a pace of a few seconds was only a cold start or a pause, long bookings leave the
 * workers idle until the last retry arrives, whereas an early retry costs one more refusal. So the horizon errs on the
 * side of early retries.
 */
export function trustedHorizonS(measuredS: number): number {
  return Math.max(
    LEAST_S + PER_SECOND * measuredS,
    measuredS * Math.min(MOST_TIMES, measuredS / SQUARE_OVER_S),
  );
}

/**
 * The maximum horizon for deliveries without a key and for new keys, `burstS` seconds after the burst began. Any sender
 * can fill that part of the schedule, and a flood that never retries looks like any other delivery in it: without this
 * maximum, all others would wait until the flood's bookings are over.
 */
export function sharedHorizonS(burstS: number): number {
  return Math.min(MOST_SHARED_S, LEAST_S + PER_SHARED_SECOND * burstS);
}

/**
 * The horizon for a burst in which the process has been late for `busyS` seconds in all, even if the pace is not
 * trusted that far. Refusing takes CPU as well. When more requests arrive than the process can answer, early retries
 * delay both the running handlers and the answers to other senders, which time out and retry in turn: the overload
 * would outlast the burst.
 */
export function overloadHorizonS(busyS: number): number {
  return LEAST_S + PER_BUSY_SECOND * busyS;
}
