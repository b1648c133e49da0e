/** From this many disconnects at the same age on, the timeout of a key's senders is known. */
const ENOUGH = 8;
/** Disconnects are weighed against at most this many awaited answers, so that a change of habit is noticed soon. */
const MOST = 2 * ENOUGH;
/** A sooner disconnect has another reason: the shortest timeout of a known sender is 3 s. */
const LEAST_MS = 2500;
/** A client that dies drops all of its connections together, which says nothing about its timeout. */
const APART_MS = 20;
/** Senders have one timeout: ages that deviate by more than this part of their mean have another cause. */
const SPREAD = 0.1;
/** A learned timeout applies for this long after the last disconnect. Then it is learned again from a few deliveries. */
const GOOD_FOR_MS = 60_000;
/** How many keys are remembered. Of more, those whose last disconnect is the oldest are forgotten. */
const KEYS = 1000;
/** Handling times vary: a delivery has to start this many times its key's mean before its sender's timeout. */
const HANDLINGS = 1.5;

/** When the senders of a key have disconnected lately. */
interface Habit {
  /** Disconnects, minus answers that were awaited although they came later. At most {@link MOST}. */
  weight: number;
  meanMs: number;
  deviationMs: number;
  lastMs: number;
}

/**
 * Learns the timeout of a key's senders where it is not known, from the age of the deliveries whose senders disconnected
 * before the answer.
 *
 * Without it, a receiver with slightly more deliveries than it can handle works in vain: the queue fills until deliveries
 * start just before their senders disconnect, and each is handled and answered a moment too late. At 30 a second for
 * workers that handle 25, with a timeout of 5 s, a third of the work is lost.
 *
 * A sender that keeps disconnecting on purpose, in a queue that is long enough, can shorten the wait of its key, and
 * so that of all unknown senders if it is one of them, but to no less than 1.25 s.
 */
export class LearnedTimeouts {
  /** In the order of their last disconnect. */
  readonly #habits = new Map<string, Habit>();

  /** A sender has disconnected when its delivery was `ageMs` old. */
  gone(key: string, ageMs: number, nowMs: number): void {
    if (ageMs < LEAST_MS) return;
    let habit = this.#habits.get(key);
    if (habit !== undefined && nowMs - habit.lastMs < APART_MS) return;
    this.#habits.delete(key);
    if (habit === undefined || nowMs - habit.lastMs > GOOD_FOR_MS)
      habit = { weight: 0, meanMs: ageMs, deviationMs: 0, lastMs: nowMs };
    habit.weight = Math.min(MOST, habit.weight + 1);
    const part = 1 / Math.min(ENOUGH, habit.weight);
    habit.deviationMs += (Math.abs(ageMs - habit.meanMs) - habit.deviationMs) * part;
    habit.meanMs += (ageMs - habit.meanMs) * part;
    habit.lastMs = nowMs;
    this.#habits.set(key, habit);
    if (this.#habits.size <= KEYS) return;
    for (const oldest of this.#habits.keys()) {
      this.#habits.delete(oldest);
      return;
    }
  }

  /** A sender was still connected when its delivery, `ageMs` old, had been handled. */
  stayed(key: string, ageMs: number): void {
    const habit = this.#habits.size === 0 ? undefined : this.#habits.get(key);
    if (habit !== undefined && ageMs > habit.meanMs) habit.weight = Math.max(0, habit.weight - 1);
  }

  /**
   * How long a delivery of the key may be queued so that it is handled before its sender's timeout, in milliseconds;
   * Infinity while that is not known.
   *
   * @param handlingMs - how long deliveries of the key are handled, on average.
   */
  of(key: string, handlingMs: number, nowMs: number): number {
    const habit = this.#habits.size === 0 ? undefined : this.#habits.get(key);
    if (habit === undefined || habit.weight < ENOUGH || nowMs - habit.lastMs > GOOD_FOR_MS) return Infinity;
    const { meanMs, deviationMs } = habit;
    if (deviationMs > SPREAD * meanMs) return Infinity;
    // Where handlers take as long as the senders wait, an earlier start does not help.
    return Math.max(meanMs / 2, meanMs - 2 * deviationMs - HANDLINGS * handlingMs);
  }
}
