import type { Signal } from '@webhook-backpressure/base';
import type { Outcome } from './events.ts';
import type { Refusal } from './refusal.ts';

/** An admitted delivery: it has its permit, or is queued for one. */
export interface Admission {
  /** Tells an admission from a {@link Refusal}. */
  readonly admitted: true;
  /**
   * The permit itself if a worker was free and the queue empty; otherwise a promise that always settles: with the
   * permit, or with a refusal if the wait became too long, the intake closed, or {@link Admission.leave} was called.
   */
  readonly permit: Permit | Promise<Permit | Refusal>;
  /** Withdraws a queued delivery because its sender has disconnected. O(1). Does nothing once it has started. */
  leave(): void;
}

/** The right to run, held from start to release. */
export interface Permit {
  /** Tells a permit from a {@link Refusal}. */
  readonly admitted: true;
  /** Milliseconds between admission and start. */
  readonly waitedMs: number;
  /**
   * Tells the handler to stop: aborted when the permit is revoked after `maxHandlingMs`, and by `abort`. The signal is
   * created when it is first read.
   */
  readonly signal: Signal;
  /**
   * Aborts `signal` without releasing the permit: a handler that ignores the signal keeps running and keeps its worker.
   * The handling time of an aborted delivery does not count toward the drain rate.
   */
  abort(reason?: unknown): void;
  /**
   * Frees the worker. Only the first call has an effect.
   *
   * @param outcome - default `success`.
   */
  release(outcome?: Outcome): void;
}
