/** So late a timer may be in a process that does nothing but its usual work. */
const USUAL_LATE_MS = 50;
/** At most this part of the time counts as a standstill … */
const MOST_AWAY = 0.5;
/** … but for so long without looking back. */
const CREDIT_MS = 4000;
/** The late share fades like this. */
const LATE_TAU_MS = 5000;

/**
 * The time that the process has lived through: the clock's, less the time for which it stood still, because it was
 * stopped, had no CPU, or was busy with one turn of the event loop for long. Nothing was completed in that time, and
 * that says nothing about the workers; so what is learned of them is measured in this time. What senders have waited
 * is not: they did not stand still.
 *
 * A standstill shows in the lateness of a timer, and at any moment: also within a long turn, before that timer has had
 * its chance. That does not tell a process that was stopped from one whose handlers hold the thread, which is how fast
 * they are. So no more than half of the time is left out, apart from a few seconds: the rate of such handlers may be
 * taken for twice what it is, and not for more.
 */
export class LivedTime {
  #awayMs = 0;
  #creditMs = CREDIT_MS;
  #firedMs = 0;
  #lateShare = 0;

  /** The part of the last seconds in which the timer was late, from 0 to 1. */
  get lateShare(): number {
    return this.#lateShare;
  }

  /** @param lateMs - how late the timer is that is set now; 0 when none is. */
  at(nowMs: number, lateMs: number): number {
    return nowMs - this.#awayMs - this.#leftOut(lateMs);
  }

  /** The timer has fired, so late. */
  fired(nowMs: number, lateMs: number): void {
    this.#awayMs += this.#leftOut(lateMs);
    const overMs = Math.max(0, lateMs - USUAL_LATE_MS);
    const sinceMs = Math.max(lateMs, nowMs - this.#firedMs);
    if (sinceMs > 0) {
      this.#lateShare += (overMs / sinceMs - this.#lateShare) * (1 - Math.exp(-sinceMs / LATE_TAU_MS));
    }
    const earnedMs = (nowMs - this.#firedMs) * MOST_AWAY;
    this.#creditMs = Math.min(CREDIT_MS, Math.max(0, this.#creditMs - overMs) + earnedMs);
    this.#firedMs = nowMs;
  }

  #leftOut(lateMs: number): number {
    const overMs = Math.max(0, lateMs - USUAL_LATE_MS);
    // Longer than the whole credit in one piece is no handler.
    return Math.min(this.#creditMs, overMs) + Math.max(0, overMs - CREDIT_MS);
  }
}
