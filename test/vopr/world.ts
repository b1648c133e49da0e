import { type HistoryEvent, manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import type { Clock } from '@webhook-backpressure/base';
import { Turns } from '@webhook-backpressure/planner/parts';
import { Dice, type Plan } from './plan.ts';

/** The time of day at the beginning. */
const START_MS = Date.UTC(2026, 0, 1);

/** More timers than any correct run has. */
const MAX_STEPS = 300_000;

/** A history that is being recorded. */
export type Recorded = Omit<HistoryEvent, 'atMs'>;

/** Time, chance and what happens, of one run in one thread. */
export class World {
  readonly clock: ManualClock = manualClock();
  readonly dice: Dice;
  /** What senders and handlers see, and what the store commits. */
  readonly seen: HistoryEvent[] = [];
  /** The claims and settlements in the store: its owners are the workers. */
  readonly committed: HistoryEvent[] = [];
  /** The events and totals that inboxes report. */
  readonly reported: HistoryEvent[] = [];
  /** What is wrong beside the histories, with the number of the last seen event. */
  readonly wrong: string[] = [];
  wallAheadMs = START_MS;
  /** Whether faults are over. */
  isCalm = false;
  /** Whether there never are any. */
  isFaultless = false;
  /** For how long the event loop has stood still, in all. */
  blockedMs = 0;
  readonly #turns = new Turns();
  #steps = 0;

  constructor(seed: number) {
    this.dice = new Dice(seed, 'world');
  }

  get nowMs(): number {
    return this.clock.now();
  }

  get wallMs(): number {
    return this.wallAheadMs + this.nowMs;
  }

  see(event: Recorded): void {
    this.seen.push({ ...event, atMs: this.nowMs });
    this.note();
  }

  commit(event: Recorded): void {
    this.committed.push({ ...event, atMs: this.nowMs });
    this.note();
  }

  /** Records the limits of a process. */
  limit(worker: string, { options, deliveries }: Plan): void {
    const { concurrency, maxStartsPerSecond: perSecond, maxConcurrencyPerKey } = options;
    this.see({ type: 'limits', worker, concurrency });
    // A late start is made up for within 100 ms.
    if (perSecond !== undefined) this.see({ type: 'limits', worker, perSecond, burst: 2 + perSecond / 10 });
    if (maxConcurrencyPerKey === undefined) return;
    for (const key of new Set(deliveries.map((one) => one.key)))
      this.see({ type: 'limits', worker, key, concurrency: maxConcurrencyPerKey });
  }

  /** Something has happened that may be followed by more in a later turn. */
  note(): void {
    this.#steps += 1;
    // Thrown in the call of a store as well, so that a loop without timers ends.
    if (this.#steps > MAX_STEPS)
      throw new Error(`It does not end: ${String(MAX_STEPS)} things have happened.`);
    this.#turns.note();
  }

  /** The event loop stands still: time passes, and no timer runs. */
  block(ms: number): void {
    this.blockedMs += ms;
    this.clock.jump(ms);
  }

  after(ms: number, action: () => void): void {
    this.clock.setTimeout(() => {
      this.note();
      action();
    }, ms);
  }

  /** Lets time pass until the condition is true. Returns false if it is not within `ms`. */
  async passUntil(ms: number, isOver: () => boolean): Promise<boolean> {
    const endMs = this.nowMs + ms;
    await this.#turns.settle();
    while (!isOver()) {
      this.note();
      if (this.nowMs > endMs || !this.clock.advanceToNext()) return false;
      await this.#turns.settle();
    }
    return true;
  }
}

/** A process: what it has scheduled waits while it is stopped, and never runs once it is dead. */
export class Process {
  readonly name: string;
  readonly clock: Clock;
  /** Calls of the store that it has made. */
  calls = 0;
  isDead = false;
  /** Timers that are set. */
  timers = 0;
  readonly #world: World;
  #stoppedUntilMs = -Infinity;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    // A monotonic clock begins anywhere.
    const aheadMs = world.dice.whole(0, 1_000_000);
    const { clock } = world;
    this.clock = {
      now: () => clock.now() + aheadMs,
      setTimeout: (callback, ms) => {
        // The system's timers are late, never early.
        const lateMs = world.dice.isLucky(0.1) ? world.dice.whole(1, 5) : 0;
        const timer = { handle: undefined as unknown, isSet: true };
        this.timers += 1;
        const fire = (): void => {
          const waitMs = this.#stoppedUntilMs - clock.now();
          if (waitMs > 0) {
            timer.handle = clock.setTimeout(fire, waitMs);
            return;
          }
          timer.isSet = false;
          this.timers -= 1;
          if (this.isDead) return;
          world.note();
          callback();
        };
        timer.handle = clock.setTimeout(fire, ms + lateMs);
        return timer;
      },
      clearTimeout: (handle) => {
        const timer = handle as { handle: unknown; isSet: boolean } | undefined;
        if (timer?.isSet !== true) return;
        timer.isSet = false;
        this.timers -= 1;
        clock.clearTimeout(timer.handle);
      },
    };
  }

  get isStopped(): boolean {
    return this.#stoppedUntilMs > this.#world.nowMs;
  }

  stop(ms: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, this.#world.nowMs + ms);
  }

  resume(): void {
    this.#stoppedUntilMs = -Infinity;
  }

  /** Does something in the process: later while it is stopped, never if it is dead. */
  do(action: () => void): void {
    if (this.isDead) return;
    const waitMs = this.#stoppedUntilMs - this.#world.nowMs;
    if (waitMs > 0) {
      this.#world.after(waitMs, () => {
        this.do(action);
      });
      return;
    }
    this.#world.note();
    action();
  }
}
