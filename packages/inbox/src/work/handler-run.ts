import { abortController, NO_DEADLINE, type Signal, type Timed } from '@webhook-backpressure/base';
import type { Admission, Permit } from '@webhook-backpressure/core';
import type { ClaimedDelivery, ClaimRef } from '../store/inbox-store.ts';

/**
 * - `waiting`: claimed, waits for a permit
 * - `running`: the handler runs
 * - `settling`: the result is being stored
 * - `over`: the run has ended; the result of a handler that still runs is ignored
 */
export type HandlerRunState = 'waiting' | 'running' | 'settling' | 'over';

/** One run of the handler for a claimed delivery, from the claim to its end. */
export class HandlerRun implements Timed<HandlerRun> {
  readonly claimed: ClaimedDelivery;
  readonly bytes: number;
  state: HandlerRunState = 'waiting';
  startedAtMs = 0;
  /** Whether its key is failing, so that the run counts as a probe. */
  isProbe = false;
  /** Whether the attempt was made: the delivery was neither given back nor lost. */
  isMade = false;
  admission: Admission | undefined;
  permit: Permit | undefined;
  dueStep: number = NO_DEADLINE;
  duePrevious: HandlerRun | null = null;
  dueNext: HandlerRun | null = null;
  /** Created on first use: most handlers never read `signal`. */
  #controller: ReturnType<typeof abortController> | undefined;

  constructor(claimed: ClaimedDelivery, bytes: number) {
    this.claimed = claimed;
    this.bytes = bytes;
  }

  get signal(): Signal {
    this.#controller ??= abortController();
    return this.#controller.signal;
  }

  get ref(): ClaimRef {
    const { key, id, attempt } = this.claimed;
    return { key, id, attempt };
  }

  /** Whether the delivery was in flight when a process died. */
  get isSuspect(): boolean {
    return this.claimed.strandings > 0;
  }

  /** Attempts that count. The first stranding does not: another delivery may have killed the process. */
  get countedAttempts(): number {
    return this.claimed.attempt - Math.min(1, this.claimed.strandings);
  }

  /** Aborts the signal of the handler. The runtime reports listeners that throw. */
  abort(why: string): void {
    const error = new Error(why);
    error.name = 'AbortError';
    this.#controller ??= abortController();
    this.#controller.abort(error);
  }

  /** Releases the worker. */
  end(outcome: 'success' | 'failure'): void {
    this.state = 'over';
    if (this.permit === undefined) this.admission?.leave();
    else this.permit.release(outcome);
  }
}
