import type { Clock } from '@webhook-backpressure/base';
import {
  type Admission,
  createIntake,
  type Intake,
  type Permit,
  type Refusal,
} from '@webhook-backpressure/core';
import type { ManualClock } from '@webhook-backpressure/core/testing';
import { stream } from '../base/numbers.ts';
import { optionsUnder } from '../scenario/policy.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Interval } from '../scenario/scenario-input.ts';
import type { Observations } from '../senders/observations.ts';

/** Reads the intake at regular intervals of the run. */
export interface Sampler {
  readonly everyMs: number;
  read(intake: Intake, nowMs: number): void;
}

export function startSampling(sampler: Sampler, intake: Intake, clock: Clock): void {
  sampler.read(intake, clock.now());
  clock.setTimeout(() => {
    startSampling(sampler, intake, clock);
  }, sampler.everyMs);
}

/** Creates the intake of a scenario, or of one receiver of its fleet, and counts how often its gate changes. */
export function intakeOf(
  { seed, policy, intake }: Scenario,
  clock: Clock,
  seen: Observations,
  receiver?: { readonly index: number; readonly limits: ReceiverLimits },
): Intake {
  const created = createIntake({
    ...optionsUnder(policy, intake),
    ...receiver?.limits,
    clock,
    random: stream(seed, receiver === undefined ? 'intake' : `intake ${String(receiver.index)}`),
  });
  created.subscribe(({ type }) => {
    if (type === 'shedding' || type === 'accepting') seen.gateToggles += 1;
  });
  return created;
}

/** The limits of one receiver of a fleet. */
export interface ReceiverLimits {
  readonly concurrency: number;
  readonly maxStartsPerSecond: number | undefined;
}

const NEVER = new AbortController().signal;

/** Entries of deliveries that have started are dropped when there are this many. */
const DROPPED = 10_000;

/**
 * A plain queue, first in, first out: no marks, no deadline, and deliveries are handled even if the sender has
 * disconnected. The middleware express-queue is such a queue; without a bound, p-limit around the handler is.
 */
export class FifoQueue {
  readonly #places: number;
  /** Its Retry-After is not used: see {@link Policy.retryAfterS}. */
  readonly #full: Refusal;
  #waiting: ((permit: Permit) => void)[] = [];
  #head = 0;
  #free: number;

  /** @param places - Infinity: the queue has no bound. */
  constructor(workers: number, places: number, status: 429 | 503) {
    this.#free = workers;
    this.#places = places;
    this.#full = { admitted: false, reason: 'full', status, retryAfterSeconds: 1, headers: {}, body: '' };
  }

  admit(): Admission | Refusal {
    if (this.#free > 0) {
      this.#free -= 1;
      return this.#admission(this.#permit());
    }
    if (this.#waiting.length - this.#head >= this.#places) return this.#full;
    return this.#admission(new Promise((settle) => this.#waiting.push(settle)));
  }

  /** A plain queue has no events. */
  subscribe(): () => void {
    return () => undefined;
  }

  #admission(permit: Permit | Promise<Permit>): Admission {
    return { admitted: true, permit, leave: () => undefined };
  }

  #permit(): Permit {
    let isHeld = true;
    return {
      admitted: true,
      waitedMs: 0,
      signal: NEVER,
      abort: () => undefined,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        const next = this.#waiting[this.#head];
        if (next === undefined) {
          this.#free += 1;
          return;
        }
        this.#head += 1;
        if (this.#head === DROPPED) {
          this.#waiting = this.#waiting.slice(DROPPED);
          this.#head = 0;
        }
        next(this.#permit());
      },
    };
  }
}

/**
 * The time of a single thread, which can be busy or frozen (stopped, or without a CPU). Both delay its timers.
 */
export class EventLoop {
  /** The clock as the receiver sees it. */
  readonly clock: Clock;
  readonly #manual: ManualClock;
  readonly #freezes: readonly { readonly fromMs: number; readonly toMs: number }[];

  constructor(manual: ManualClock, freezes: readonly Interval[]) {
    this.#manual = manual;
    this.#freezes = freezes
      .map(({ fromS, toS }) => ({ fromMs: fromS * 1000, toMs: toS * 1000 }))
      .sort((a, b) => a.fromMs - b.fromMs);
    this.clock = {
      now: () => manual.now(),
      setTimeout: (callback, ms) => {
        const now = manual.now();
        return manual.setTimeout(callback, this.awakeAt(now + Math.max(0, ms)) - now);
      },
      clearTimeout: (handle) => {
        manual.clearTimeout(handle);
      },
    };
  }

  /** The first time, from `atMs` on, at which the thread is not frozen. */
  awakeAt(atMs: number): number {
    let awakeMs = atMs;
    for (const { fromMs, toMs } of this.#freezes) if (fromMs <= awakeMs && awakeMs < toMs) awakeMs = toMs;
    return awakeMs;
  }

  /** Works for `ms`. No timer fires meanwhile. */
  work(ms: number): void {
    const now = this.#manual.now();
    let endMs = now + ms;
    for (const { fromMs, toMs } of this.#freezes) {
      if (fromMs >= now && fromMs < endMs) endMs += toMs - fromMs;
    }
    this.#manual.jump(endMs - now);
  }

  /** Fires the timers that came due meanwhile. */
  fireTimers(): void {
    this.#manual.advance(0);
  }
}
