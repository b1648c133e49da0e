import { Alarm } from '../../time/alarm.ts';
import type { Clock } from '../../time/clock.ts';

/** The longest that a timer is set for: some runtimes take a larger number for none. */
const MAX_DELAY_MS = 60_000;

/** Something that is done when its time has come, once. */
export interface Task {
  /** When, on the monotonic clock; a time that is set already is replaced. */
  set(atMs: number): void;
  clear(): void;
}

/** All that is to be done later, on one timer. */
export class Agenda {
  readonly #now: () => number;
  readonly #alarm: Alarm;
  readonly #tasks = new Map<() => void, number>();
  #ringsAtMs = Infinity;
  /** Pauses that somebody waits for who may have nothing else to keep the process alive. */
  #held = 0;
  #isStopped = false;

  constructor(clock: Clock, now: () => number) {
    this.#now = now;
    this.#alarm = new Alarm(clock, this.#ring);
  }

  get nowMs(): number {
    return this.#now();
  }

  task(action: () => void): Task {
    return {
      set: (atMs) => {
        if (this.#isStopped) return;
        this.#tasks.set(action, atMs);
        this.#wake();
      },
      clear: () => {
        this.#tasks.delete(action);
      },
    };
  }

  /** Resolves after `ms`, or at once when nothing is to be done any more. */
  pause(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.task(resolve).set(this.#now() + ms);
    });
  }

  /** The same, and the process does not end meanwhile: a script may await nothing else. */
  async hold(ms: number): Promise<void> {
    this.#held += 1;
    try {
      await this.pause(ms);
    } finally {
      this.#held -= 1;
    }
  }

  /** Does the rest now, for good: nobody is left waiting. */
  stop(): void {
    this.#isStopped = true;
    this.#alarm.clear();
    const rest = [...this.#tasks.keys()];
    this.#tasks.clear();
    for (const action of rest) action();
  }

  #wake(): void {
    const nowMs = this.#now();
    const next = Math.min(...this.#tasks.values());
    if (next >= this.#ringsAtMs && this.#alarm.isSet) {
      // Not set anew, unless it was lost.
      this.#alarm.set(nowMs, Math.max(0, this.#ringsAtMs - nowMs));
      if (this.#held > 0) this.#alarm.hold();
      return;
    }
    this.#alarm.clear();
    const delayMs = Math.min(MAX_DELAY_MS, Math.max(0, next - nowMs));
    this.#ringsAtMs = nowMs + delayMs;
    this.#alarm.set(nowMs, delayMs);
    if (this.#held > 0) this.#alarm.hold();
  }

  readonly #ring = (): void => {
    const nowMs = this.#now();
    this.#ringsAtMs = Infinity;
    const due = [...this.#tasks].filter(([, atMs]) => atMs <= nowMs);
    for (const [action] of due) this.#tasks.delete(action);
    for (const [action] of due) action();
    if (this.#tasks.size > 0) this.#wake();
  };
}
