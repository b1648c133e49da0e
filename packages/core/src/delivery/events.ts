import { boundToThisContext } from '../base/async-context.ts';
import type { RefusalReason } from './refusal.ts';

/** How a delivery that had been admitted left before it started. */
export type WithdrawalCause = 'abandoned' | 'expired' | 'displaced' | 'closing';

/** The stable codes of warnings: what works, and yet is not what its user wants. */
export type WarningCode =
  'WBP_KEY' | 'WBP_LOW_WATER' | 'WBP_NEVER_RETRIES' | 'WBP_BODY_READ' | 'WBP_NESTED' | 'WBP_WORK_FAILED';

/** How the handling of a delivery ended. */
export type Outcome = 'success' | 'failure';

/** What an intake reports. `at` is the intake's clock, in milliseconds. Events are plain objects of their own. */
export type IntakeEvent = { readonly at: number } & (
  | { readonly type: 'shedding' | 'accepting'; readonly depth: number }
  /** All workers are busy and nothing has completed for long. */
  | { readonly type: 'stalled'; readonly gapMs: number }
  | { readonly type: 'recovered' }
  /** At the door. In a dry run: it would have been refused, and was let in. */
  | {
      readonly type: 'refused';
      readonly reason: RefusalReason;
      readonly status: 429 | 503;
      readonly retryAfterSeconds: number;
      readonly key: string;
      /** Its sender never tries again. */
      readonly lossRisk: boolean;
    }
  | { readonly type: 'started'; readonly key: string; readonly waitedMs: number }
  | { readonly type: 'completed'; readonly key: string; readonly tookMs: number; readonly outcome: Outcome }
  /** After admission, before the start. In a dry run: it would have been, and is being handled. */
  | {
      readonly type: 'withdrawn';
      readonly key: string;
      readonly cause: WithdrawalCause;
      readonly waitedMs: number;
    }
  /** A permit was held longer than `maxHandlingMs` and was taken back. */
  | { readonly type: 'overdue'; readonly key: string; readonly heldMs: number }
  /** Much of what makes the sender switch the endpoint off has happened. Reported once. */
  | { readonly type: 'endangered'; readonly sender: string }
  /** Said once: it works, and yet is not what its user wants. */
  | { readonly type: 'warning'; readonly code: WarningCode; readonly message: string }
  /** `options` names what was changed. */
  | { readonly type: 'updated'; readonly options: readonly string[] }
  | {
      readonly type: 'closed';
      readonly completed: number;
      readonly refused: number;
      readonly remaining: number;
    }
);

/**
 * Gets the events of an intake. What it throws, or rejects with, is swallowed: it must not harm a delivery. It runs in
 * the async context of `subscribe`: `AsyncLocalStorage` gives it no store of the request that caused the event.
 */
export type Listener = (event: IntakeEvent) => unknown;

/** An event as its author writes it: the time is added when it is sent. */
export type EventBody<E = IntakeEvent> = E extends { at: number } ? Omit<E, 'at'> : never;

/** Passes events to the listeners, none of which can harm another or the intake. */
export class Listeners<E extends { readonly at: number } = IntakeEvent> {
  readonly #listeners = new Set<{ call: (event: E) => unknown }>();

  /** Whether anybody listens: an event is not even made when nobody does. */
  get any(): boolean {
    return this.#listeners.size > 0;
  }

  add(listener: (event: E) => unknown): () => void {
    const entry = { call: boundToThisContext(listener) };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  emit(at: number, body: EventBody<E>): void {
    for (const { call } of this.#listeners) {
      try {
        // Each gets an object of its own: one that writes to it must not mislead the next.
        const result = call({ ...body, at } as unknown as E);
        if (result instanceof Promise) result.catch(ignore);
      } catch {
        // A listener is an onlooker. Its failure is its own.
      }
    }
  }
}

function ignore(): void {
  // See Listeners.emit.
}
