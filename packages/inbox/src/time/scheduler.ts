import { Timer, type Clock } from '@webhook-backpressure/base';

/** The longest timer that is set: some runtimes treat a very long delay as no delay. */
const MAX_DELAY_MS = 60_000;

/** An action that runs once, at a time that can be changed. */
export interface Task {
  /** Schedules the action on the monotonic clock, replacing an earlier time. */
  set(atMs: number): void;
  clear(): void;
}

/** Runs all delayed actions of an inbox on one timer. */
export class Scheduler {
  readonly #now: () => number;
  readonly #alarm: Timer;
  readonly #tasks = new Map<() => void, number>();
  #ringsAtMs = Infinity;
  /** Pauses during which the process must stay alive. */
  #held = 0;
  #isStopped = false;

  constructor(clock: Clock, now: () => number) {
    this.#now = now;
    this.#alarm = new Timer(clock, this.#ring);
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

  /** Resolves after `ms`, or immediately once the scheduler is stopped. */
  pause(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.task(resolve).set(this.#now() + ms);
    });
  }

  /** Like `pause`, but keeps the process alive: a script may await nothing else. */
  async hold(ms: number): Promise<void> {
    this.#held += 1;
    try {
      await this.pause(ms);
    } finally {
      this.#held -= 1;
    }
  }

  /** Keeps the process alive until {@link stop}: a program of workers may have nothing else that does. */
  keepAlive(): void {
    this.#held += 1;
  }

  /** Runs all remaining actions immediately and accepts no more, so that every pause resolves. */
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
      // Set again for the same time, because the runtime may have dropped the timer.
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
