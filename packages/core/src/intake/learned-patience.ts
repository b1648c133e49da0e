/** So many hang-ups at the same age tell how long the senders of a key wait. */
const ENOUGH = 8;
/** Hang-ups are weighed against answers that were waited for up to this many, so that a change of habit is seen soon. */
const MOST = 2 * ENOUGH;
/** No shorter patience is believed. The least patient sender that is known waits for 3 s: a hang-up sooner than this has another reason. */
const LEAST_MS = 2500;
/** A client that dies hangs up all of its deliveries together, and says nothing of the next one. */
const APART_MS = 20;
/** Senders have one timeout: ages that differ by more than this part of their mean come from something else. */
const SPREAD = 0.1;
/** What was learned is used for so long after the last hang-up. Then it is learned again, at the cost of a few. */
const GOOD_FOR_MS = 60_000;
/** The keys that are remembered; of more, those that hung up longest ago are forgotten. */
const KEYS = 1000;
/** Handling times vary: a delivery starts so many times its key's mean before its sender gives up. */
const HANDLINGS = 1.5;

/** When the senders of a key have hung up lately. */
interface Habit {
  /** Hang-ups, less the answers that were waited for although they came later. At most {@link MOST}. */
  weight: number;
  meanMs: number;
  deviationMs: number;
  lastMs: number;
}

/**
 * Learns how long the senders of a key wait, where nobody says so: from the age of the deliveries whose senders hung up
 * before they were answered.
 *
 * Without it a receiver that gets a little more than it can handle works for nobody: the queue fills until deliveries
 * start just before their senders give up, and each of them is handled and answered a moment too late. At 30 a second
 * for workers that handle 25, and senders that wait for 5 s, that is a third of the work.
 *
 * A sender that hangs up on purpose, again and again, in a queue that is that long, can shorten the wait of its own key, and so
 * that of all unknown senders where it is one of them: to no less than 1.25 s.
 */
export class LearnedPatience {
  /** In the order of their last hang-up. */
  readonly #habits = new Map<string, Habit>();

  /** A sender has hung up when its delivery was `ageMs` old. */
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

  /** A sender was still there when its delivery, `ageMs` old, had been handled. */
  stayed(key: string, ageMs: number): void {
    const habit = this.#habits.size === 0 ? undefined : this.#habits.get(key);
    if (habit !== undefined && ageMs > habit.meanMs) habit.weight = Math.max(0, habit.weight - 1);
  }

  /**
   * How long a delivery of the key may wait for its start so that it is handled before its sender gives up, in
   * milliseconds; Infinity where that is not known.
   *
   * @param handlingMs - how long deliveries of the key are handled, on average.
   */
  of(key: string, handlingMs: number, nowMs: number): number {
    const habit = this.#habits.size === 0 ? undefined : this.#habits.get(key);
    if (habit === undefined || habit.weight < ENOUGH || nowMs - habit.lastMs > GOOD_FOR_MS) return Infinity;
    const { meanMs, deviationMs } = habit;
    if (deviationMs > SPREAD * meanMs) return Infinity;
    // Whose handlers take as long as their senders wait cannot be helped by starting sooner.
    return Math.max(meanMs / 2, meanMs - 2 * deviationMs - HANDLINGS * handlingMs);
  }
}
