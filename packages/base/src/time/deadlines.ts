import { Timer } from './timer.ts';
import type { Clock } from './clock.ts';

/** The resolution of deadlines: never early, and late by at most one step plus the timer's delay. */
const STEP_MS = 50;
/** Slots of the wheel, 102 s in all. A deadline further away is skipped once per turn. */
const SLOTS = 2048;
const SLOT_MASK = SLOTS - 1;

/** The `dueStep` of an item without a deadline. */
export const NO_DEADLINE = -1;

/** An item with a deadline, including the links that the wheel maintains. */
export interface Timed<T> {
  /** The step at which the item is due, or {@link NO_DEADLINE}. */
  dueStep: number;
  duePrevious: T | null;
  dueNext: T | null;
}

/**
 * The deadlines of all deliveries, queued or running, on one shared timer: a hashed timing wheel (Varghese and
 * Lauck, 1987). Setting and clearing a deadline is O(1) and allocates nothing. The timer runs only while there are
 * deadlines.
 */
export class Deadlines<T extends Timed<T>> {
  readonly #alarm: Timer;
  readonly #onDue: (item: T, nowMs: number) => void;
  readonly #onStep: (nowMs: number) => void;
  readonly #now: () => number;
  readonly #isAwaited: () => boolean;
  readonly #lived = new LivedTime();
  readonly #slots: (T | null)[] = new Array<T | null>(SLOTS).fill(null);
  #size = 0;
  #doneStep = 0;
  #isStopped = false;

  /**
   * @param onDue - called for each due item, after all due items have left the wheel. An item that ended in the
   * meantime may still be passed: check its state.
   * @param onStep - called at each step of the timer, after the due items.
   * @param isAwaited - whether a caller waits for a deadline, so that the timer must keep the process alive.
   */
  constructor(
    clock: Clock,
    now: () => number,
    onDue: (item: T, nowMs: number) => void,
    onStep: (nowMs: number) => void,
    isAwaited: () => boolean = (): boolean => false,
  ) {
    this.#alarm = new Timer(clock, this.#tick);
    this.#now = now;
    this.#onDue = onDue;
    this.#onStep = onStep;
    this.#isAwaited = isAwaited;
  }

  /** How long the timer is overdue, that is, how long the event loop has been blocked; 0 without deadlines. */
  lateMs(nowMs: number): number {
    return this.#alarm.lateMs(nowMs);
  }

  /** The current time without the time in which the process was stopped or blocked: see {@link LivedTime}. */
  livedMs(nowMs: number): number {
    return this.#lived.at(nowMs, this.#alarm.lateMs(nowMs));
  }

  /** See {@link LivedTime.lateShare}. */
  get lateShare(): number {
    return this.#lived.lateShare;
  }

  /** See {@link LivedTime.lateInAllMs}. */
  lateInAllMs(nowMs: number): number {
    return this.#lived.lateInAllMs(this.#alarm.lateMs(nowMs));
  }

  set(item: T, atMs: number, nowMs: number): void {
    if (this.#isStopped) return;
    if (this.#size === 0) this.#doneStep = Math.floor(nowMs / STEP_MS);
    const step = Math.max(this.#doneStep + 1, Math.ceil(atMs / STEP_MS));
    const slot = step & SLOT_MASK;
    const first = this.#slots[slot] ?? null;
    item.dueStep = step;
    item.duePrevious = null;
    item.dueNext = first;
    if (first !== null) first.duePrevious = item;
    this.#slots[slot] = item;
    this.#size += 1;
    this.#wake(nowMs);
  }

  clear(item: T): void {
    if (item.dueStep === NO_DEADLINE || this.#isStopped) return;
    if (item.dueNext !== null) item.dueNext.duePrevious = item.duePrevious;
    if (item.duePrevious !== null) item.duePrevious.dueNext = item.dueNext;
    else this.#slots[item.dueStep & SLOT_MASK] = item.dueNext;
    item.dueStep = NO_DEADLINE;
    item.duePrevious = item.dueNext = null;
    this.#size -= 1;
  }

  /** Stops the timer and drops all deadlines permanently. */
  stop(): void {
    this.#isStopped = true;
    this.#alarm.clear();
    this.#slots.fill(null);
    this.#size = 0;
  }

  #wake(nowMs: number): void {
    this.#alarm.set(nowMs, STEP_MS - (nowMs % STEP_MS));
    if (this.#isAwaited()) this.#alarm.hold();
  }

  readonly #tick = (dueMs: number): void => {
    const nowMs = this.#now();
    this.#lived.fired(nowMs, nowMs - dueMs);
    const step = Math.floor(nowMs / STEP_MS);
    const due: T[] = [];
    // After the machine has slept for long, visit each slot once instead of every missed step.
    let from = Math.max(this.#doneStep + 1, step - SLOTS + 1);
    this.#doneStep = Math.max(this.#doneStep, step);
    for (; from <= step; from += 1) this.#collect(from & SLOT_MASK, step, due);
    for (const item of due) this.clear(item);
    for (const item of due) {
      // The callback for one item may have ended another item or given it a new deadline.
      if (item.dueStep === NO_DEADLINE) this.#onDue(item, nowMs);
    }
    this.#onStep(nowMs);
    if (this.#size > 0) this.#wake(nowMs);
  };

  #collect(slot: number, step: number, due: T[]): void {
    for (let item = this.#slots[slot] ?? null; item !== null; item = item.dueNext) {
      if (item.dueStep <= step) due.push(item);
    }
  }
}

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
