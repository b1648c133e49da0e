import { NO_DEADLINE, type Timed } from '../../time/deadlines.ts';
import type { Admission, Permit } from '../../delivery/admission.ts';
import { abortController, type Signal } from '../../base/abort.ts';
import type { ClaimedDelivery, ClaimRef } from '../store/inbox-store.ts';

/**
 * - `waiting`: claimed, and waits for its start, which may be paced
 * - `running`: its handler runs
 * - `settling`: its end is being stored
 * - `over`: whatever its handler still does is nobody's business
 */
export type RunState = 'waiting' | 'running' | 'settling' | 'over';

/** One attempt at a delivery, from its claim to its end. */
export class Run implements Timed<Run> {
  readonly claimed: ClaimedDelivery;
  readonly bytes: number;
  state: RunState = 'waiting';
  startedAtMs = 0;
  /** Of a key whose handlers fail: one of few. */
  isProbe = false;
  /** Its attempt was made, and neither given back nor lost. */
  isMade = false;
  place: Admission | undefined;
  permit: Permit | undefined;
  dueStep: number = NO_DEADLINE;
  duePrevious: Run | null = null;
  dueNext: Run | null = null;
  /** Made when it is asked for: most handlers never do. */
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

  /** Whether it was in hand when a process died. */
  get isSuspect(): boolean {
    return this.claimed.strandings > 0;
  }

  /** Attempts that count: a process may have died of another delivery, so the first stranding is forgiven. */
  get countedAttempts(): number {
    return this.claimed.attempt - Math.min(1, this.claimed.strandings);
  }

  /** Tells the handler to end. A listener of the signal that throws is the runtime's to report. */
  abort(why: string): void {
    const error = new Error(why);
    error.name = 'AbortError';
    this.#controller ??= abortController();
    this.#controller.abort(error);
  }

  /** Gives the worker back. */
  end(outcome: 'success' | 'failure'): void {
    this.state = 'over';
    if (this.permit === undefined) this.place?.leave();
    else this.permit.release(outcome);
  }
}
