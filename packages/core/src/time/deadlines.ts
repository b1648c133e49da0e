import { Alarm } from './alarm.ts';
import type { Clock } from './clock.ts';
import { LivedTime } from './lived-time.ts';

/** Deadlines are kept to this step: never early, and late by one step and the timer's own delay at most. */
const STEP_MS = 50;
/** Steps of the wheel: 102 s. A deadline further away is passed over once a turn. */
const SLOTS = 2048;
const SLOT_MASK = SLOTS - 1;

/** The `dueStep` of what has no deadline. */
export const NO_DEADLINE = -1;

/** What has a deadline, with room for the wheel's own links. */
export interface Timed<T> {
  /** The step at which it is due, or {@link NO_DEADLINE} while it has no deadline. */
  dueStep: number;
  duePrevious: T | null;
  dueNext: T | null;
}

/**
 * The deadlines of all deliveries, those that wait and those that are handled, on one shared timer: a hashed
 * timing wheel (Varghese and Lauck, 1987). Setting and clearing a deadline are O(1) and allocate nothing. The
 * timer runs only while there are deadlines.
 */
export class Deadlines<T extends Timed<T>> {
  readonly #alarm: Alarm;
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
   * @param onDue - called for each item whose time has come, after all of them have left the wheel. An item
   * that was ended meanwhile may still be passed: the callee looks at its state.
   * @param onStep - called at each step of the timer, after the items that were due.
   * @param isAwaited - whether somebody waits for a deadline, so that the timer has to keep the process alive until
   * its next step.
   */
  constructor(
    clock: Clock,
    now: () => number,
    onDue: (item: T, nowMs: number) => void,
    onStep: (nowMs: number) => void,
    isAwaited: () => boolean = (): boolean => false,
  ) {
    this.#alarm = new Alarm(clock, this.#tick);
    this.#now = now;
    this.#onDue = onDue;
    this.#onStep = onStep;
    this.#isAwaited = isAwaited;
  }

  /** How late the timer is now, that is, for how long the process has not looked; 0 while there are no deadlines. */
  lateMs(nowMs: number): number {
    return this.#alarm.lateMs(nowMs);
  }

  /** Now in the time that the process has lived through: see {@link LivedTime}. */
  livedMs(nowMs: number): number {
    return this.#lived.at(nowMs, this.#alarm.lateMs(nowMs));
  }

  /** See {@link LivedTime.lateShare}. */
  get lateShare(): number {
    return this.#lived.lateShare;
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

  /** Stops the timer and forgets all deadlines, for good. */
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
    // After a long sleep of the machine every slot is looked at once, and not every step that was missed.
    let from = Math.max(this.#doneStep + 1, step - SLOTS + 1);
    this.#doneStep = Math.max(this.#doneStep, step);
    for (; from <= step; from += 1) this.#collect(from & SLOT_MASK, step, due);
    for (const item of due) this.clear(item);
    for (const item of due) {
      // What is done for one item may end another, or give it a new deadline.
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
