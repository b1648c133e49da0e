import { type Clock, isThenable } from '@webhook-backpressure/base';
import type { FleetBeat, FleetRegistry, FleetView } from './registry.ts';

const BEAT_MS = 2000;
/** As a part of the interval: members that were started together spread over it. */
const JITTER = 0.2;
const LIMIT_MS = 4000;
/** A hurried beat comes after 100 to 300 ms. */
const HURRY_MS = 200;
const HURRY_JITTER = 0.5;
/** While calls hang, the interval doubles up to this: a client may queue them all. */
const MAX_MS = 30_000;

/** What a beat writes, and what follows from it. */
export interface BeatParts {
  readonly registry: FleetRegistry;
  readonly clock: Clock;
  readonly now: () => number;
  readonly random: () => number;
  readonly compose: (number: number) => FleetBeat;
  readonly answered: (view: FleetView, sentAtMs: number) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * When a member beats: every 1.6 to 2.4 s, and between two such beats once more if something has to be known soon. A call
 * without an answer after 4 s has failed, and its answer is ignored.
 */
export class Beats {
  readonly #parts: BeatParts;
  #number = 0;
  #dueMs: number;
  #mayHurry = false;
  /** The call that is awaited. */
  #awaited: object | undefined;
  /** Calls whose time was over, since any was answered or has failed. */
  #hanging = 0;
  #limit: unknown;
  #isEnding = false;

  constructor(parts: BeatParts) {
    this.#parts = parts;
    this.#dueMs = parts.now();
  }

  /** When the next beat is due. */
  get dueMs(): number {
    return this.#awaited === undefined && !this.#isEnding ? this.#dueMs : Infinity;
  }

  /** Makes the next beat come soon, once between two regular ones. */
  hurry(): void {
    if (!this.#mayHurry) return;
    this.#mayHurry = false;
    const { now, random } = this.#parts;
    this.#dueMs = Math.min(this.#dueMs, now() + HURRY_MS * jitter(HURRY_JITTER, random()));
  }

  /** Sends a beat, if one is due. */
  send(nowMs: number): void {
    if (nowMs < this.dueMs) return;
    const { random } = this.#parts;
    const interval = Math.min(MAX_MS, BEAT_MS * 2 ** this.#hanging);
    this.#dueMs = nowMs + interval * jitter(JITTER, random());
    this.#mayHurry = this.#hanging === 0;
    this.#call();
  }

  /** Sends the last beat. Resolves when it has been answered, has failed, or its time is over. */
  async end(limitMs: number): Promise<void> {
    this.#forget();
    this.#isEnding = true;
    const { registry, clock, compose } = this.#parts;
    this.#number += 1;
    let timer: unknown;
    const over = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, limitMs);
    });
    const beat = compose(this.#number);
    // When it fails, the others notice within 10 s.
    const sent = (async () => await registry.beat(beat))().catch(() => undefined);
    await Promise.race([sent, over]);
    clock.clearTimeout(timer);
  }

  #call(): void {
    const { registry, clock, now, random, compose, answered, failed } = this.#parts;
    this.#number += 1;
    const sentAtMs = now();
    const call = {};
    this.#awaited = call;
    const ended = (use: () => void): void => {
      const isAwaited = this.#awaited === call;
      if (isAwaited) this.#forget();
      if (this.#hanging > 0) {
        this.#hanging = 0;
        this.#dueMs = Math.min(this.#dueMs, now() + BEAT_MS * jitter(JITTER, random()));
      }
      if (isAwaited) use();
    };
    const fail = (error: unknown): void => {
      ended(() => {
        failed(error);
      });
    };
    const pass = (view: FleetView): void => {
      ended(() => {
        try {
          answered(view, sentAtMs);
        } catch (error) {
          // What a registry of the user has returned may be anything.
          failed(error);
        }
      });
    };
    let view: FleetView | PromiseLike<FleetView>;
    try {
      view = registry.beat(compose(this.#number));
    } catch (error) {
      fail(error);
      return;
    }
    if (!isThenable(view)) {
      pass(view);
      return;
    }
    this.#limit = clock.setTimeout(() => {
      this.#forget();
      this.#hanging += 1;
      failed(new Error(`The registry has not answered within ${String(LIMIT_MS)} ms.`));
    }, LIMIT_MS);
    view.then(pass, fail);
  }

  #forget(): void {
    this.#awaited = undefined;
    this.#parts.clock.clearTimeout(this.#limit);
    this.#limit = undefined;
  }
}

function jitter(most: number, random: number): number {
  return 1 + most * (2 * random - 1);
}
