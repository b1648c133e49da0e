/** A timer of a process under normal load is up to this late. */
const USUAL_LATE_MS = 50;
/** At most this share of the time is left out as a standstill … */
const MAX_AWAY = 0.5;
/** … except that up to this much is left out regardless. */
const CREDIT_MS = 4000;
/** The time constant of the late share. */
const LATE_TAU_MS = 5000;

/**
 * Clock time minus the standstills: the time in which the process was stopped, had no CPU, or was blocked by one long
 * turn of the event loop. Nothing completes during a standstill, which says nothing about the workers, so the drain
 * rate is measured in lived time. The waits of senders are measured in clock time.
 *
 * A standstill shows in how late a timer is, even during a long turn, before the timer can fire. But that looks the
 * same whether the process was stopped or its handlers block the thread, which is simply their speed. So at most half
 * of the time is left out, apart from a few seconds: the rate of blocking handlers is overestimated at most twofold.
 */
export class LivedTime {
  #awayMs = 0;
  #creditMs = CREDIT_MS;
  #firedMs = 0;
  #lateShare = 0;
  #lateMs = 0;

  /** The share of the last seconds in which the timer was late, 0 to 1. */
  get lateShare(): number {
    return this.#lateShare;
  }

  /** The lateness of all timers so far, added up. `lateMs`: that of the current timer. */
  lateInAllMs(lateMs: number): number {
    return this.#lateMs + lateMs;
  }

  /** @param lateMs - how long the current timer is overdue; 0 if none is set. */
  at(nowMs: number, lateMs: number): number {
    return nowMs - this.#awayMs - this.#leftOut(lateMs);
  }

  /** Notes that the timer has fired `lateMs` late. */
  fired(nowMs: number, lateMs: number): void {
    this.#awayMs += this.#leftOut(lateMs);
    this.#lateMs += lateMs;
    const overMs = Math.max(0, lateMs - USUAL_LATE_MS);
    const sinceMs = Math.max(lateMs, nowMs - this.#firedMs);
    if (sinceMs > 0) {
      this.#lateShare += (overMs / sinceMs - this.#lateShare) * gain(sinceMs);
    }
    const earnedMs = (nowMs - this.#firedMs) * MAX_AWAY;
    this.#creditMs = Math.min(CREDIT_MS, Math.max(0, this.#creditMs - overMs) + earnedMs);
    this.#firedMs = nowMs;
  }

  #leftOut(lateMs: number): number {
    const overMs = Math.max(0, lateMs - USUAL_LATE_MS);
    // A standstill longer than the whole credit is not caused by a handler.
    return Math.min(this.#creditMs, overMs) + Math.max(0, overMs - CREDIT_MS);
  }
}

/** How much a value of this time changes an average. */
function gain(ms: number): number {
  return 1 - Math.exp(-ms / LATE_TAU_MS);
}
