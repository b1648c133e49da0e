import { boundToThisContext, shared } from '@webhook-backpressure/base';
import type { AlarmEvent } from './alarm-event.ts';
import type { RefusalReason } from './refusal.ts';

/** How a delivery that had been admitted left before it started. */
export type WithdrawalCause = 'abandoned' | 'expired' | 'displaced' | 'closing';

/** The stable codes of warnings about likely misconfigurations. */
export type WarningCode =
  | ('WBP_KEY' | 'WBP_LOW_WATER' | 'WBP_NEVER_RETRIES' | 'WBP_BODY_READ' | 'WBP_NESTED' | 'WBP_WORK_FAILED')
  | ('WBP_ANSWERED' | 'WBP_FLEET_LIMITS' | 'WBP_FLEET_SIZE' | 'WBP_SLOW_KEY')
  | ('WBP_WHOLE_APP' | 'WBP_IN_HANDLER');

/** How the handling of a delivery ended. */
export type Outcome = 'success' | 'failure';

/** The delivery that an event is about. */
export interface EventSubject {
  /** The key that the delivery counts against. */
  readonly key: string;
  /** The name of the recognized sender; undefined if its sender was not recognized. */
  readonly sender: string | undefined;
  /** The number of its admission, from 1: the same in all events of a delivery, and different for each delivery of an intake. */
  readonly sequence: number;
}

/** What an intake reports. `at` is the time of the intake's clock, in milliseconds. Each listener gets its own object. */
export type IntakeEvent = { readonly at: number } & (
  | { readonly type: 'shedding' | 'accepting'; readonly depth: number }
  /** All workers are busy, and none has completed a delivery for a long time. */
  | { readonly type: 'stalled'; readonly gapMs: number }
  | { readonly type: 'recovered' }
  /** At admission. In a dry run: it would have been refused, and was admitted. */
  | {
      readonly type: 'refused';
      readonly reason: RefusalReason;
      readonly status: 429 | 503;
      readonly retryAfterSeconds: number;
      readonly key: string;
      /** The name of the recognized sender; undefined if its sender was not recognized. */
      readonly sender: string | undefined;
      /** Its sender never retries. */
      readonly lossRisk: boolean;
    }
  /**
   * An admitted delivery has to wait. Reported during `admit`, and before its `started` or `withdrawn`. In a dry run: it
   * would have to wait, and is being handled.
   */
  | (EventSubject & { readonly type: 'queued' })
  | (EventSubject & { readonly type: 'started'; readonly waitedMs: number })
  | (EventSubject & { readonly type: 'completed'; readonly tookMs: number; readonly outcome: Outcome })
  /** After admission, before the start. In a dry run: it would have been withdrawn, and is being handled. */
  | (EventSubject & {
      readonly type: 'withdrawn';
      readonly cause: WithdrawalCause;
      readonly waitedMs: number;
      /** Its sender never retries. */
      readonly lossRisk: boolean;
    })
  /** A permit was held for longer than `maxHandlingMs` and was revoked. */
  | (EventSubject & { readonly type: 'overdue'; readonly heldMs: number })
  /** The sender has seen many of the failures after which it disables an endpoint. Reported once. */
  | { readonly type: 'endangered'; readonly sender: string; readonly key: string }
  /** An alarm of {@link observe} was raised, or has ended. `help` says what to do. */
  | AlarmEvent
  /** A likely misconfiguration. Each is reported once. */
  | { readonly type: 'warning'; readonly code: WarningCode; readonly message: string }
  /** The intake sees the other members of its fleet for the first time. `members` counts this one too. */
  | { readonly type: 'fleet-joined'; readonly resource: string; readonly members: number }
  /** The registry of the fleet has not answered for 10 s. `share`: deliveries that are handled concurrently now. */
  | {
      readonly type: 'fleet-lost';
      readonly resource: string;
      readonly share: number;
      /** The last error. It may contain the address of a server. */
      readonly error: string;
    }
  /** The registry of the fleet answers again, after `lostMs`. */
  | {
      readonly type: 'fleet-restored';
      readonly resource: string;
      readonly members: number;
      readonly lostMs: number;
    }
  /** `options` names the options that were updated. */
  | { readonly type: 'updated'; readonly options: readonly string[] }
  | {
      readonly type: 'closed';
      readonly completed: number;
      readonly refused: number;
      readonly remaining: number;
    }
);

/**
 * Receives the events of an intake. Its errors and rejections are ignored, so that they harm no delivery. It runs in the
 * async context of `subscribe`, unless {@link SubscribeOptions} say otherwise: `AsyncLocalStorage` has no store of the
 * request that caused the event. An event that a listener causes is delivered when all listeners have received the current
 * one, so that each receives all events in the order in which they happened.
 */
export type Listener = (event: IntakeEvent) => unknown;

/** How a listener is called. */
export interface SubscribeOptions {
  /**
   * Whether the listener runs in the async context that caused the event, for tracing. For `queued`, `refused` and
   * `started` without a wait that is the request itself; for `started` after a wait it is the request whose end freed
   * the worker, or none if a timer started the delivery. Default false.
   */
  inRequestContext?: boolean | undefined;
}

/** An event without its time, which is added when it is emitted. */
export type EventBody<E = IntakeEvent> = E extends { at: number } ? Omit<E, 'at'> : never;

const meters = shared('meters', () => new WeakSet<object>());

/**
 * Marks a listener that only measures. It shows nothing to the operator, who still needs process warnings. It gets the event
 * itself, before other listeners and in the async context that caused it: a copy and a change of the context would take
 * most of its time.
 */
export function measuring<L extends object>(listener: L): L {
  meters.add(listener);
  return listener;
}

/** An event that was caused by a listener, and waits until all listeners have received the current one. */
interface Waiting<E> {
  readonly event: E;
  readonly generation: number;
  readonly deliver: (event: E) => void;
}

/** A listener that causes an event at each event would otherwise never return. With this limit, its stack overflows. */
const MAX_GENERATIONS = 1000;

/** Passes events to the listeners, none of which can harm another or the intake. Each receives them in their order. */
export class Listeners<E extends { readonly at: number } = IntakeEvent> {
  readonly #meters = new Set<(event: E) => unknown>();
  readonly #listeners = new Set<{ call: (event: E) => unknown }>();
  readonly #waiting: Waiting<E>[] = [];
  /** While an event is delivered: 1, or one more than that of the event at which a listener caused it. Otherwise 0. */
  #generation = 0;

  /** Whether there are listeners. Without any, events are not created. */
  get any(): boolean {
    return this.#listeners.size > 0 || this.#meters.size > 0;
  }

  /** Whether there are listeners other than those that only measure. */
  get anyReporting(): boolean {
    return this.#listeners.size > 0;
  }

  /** @param isBound - whether the listener runs in the async context of this call, and not in that of each event. */
  add(listener: (event: E) => unknown, isBound = true): () => void {
    if (meters.has(listener)) {
      this.#meters.add(listener);
      return () => {
        this.#meters.delete(listener);
      };
    }
    const entry = { call: isBound ? boundToThisContext(listener) : listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  emit(at: number, body: EventBody<E>): void {
    // Assigned, because Node.js 20 takes 1 µs for a copy with one more property.
    const event = body as unknown as { at: number } & E;
    event.at = at;
    const generation = this.#generation;
    if (generation >= MAX_GENERATIONS) {
      this.#deliver(event);
    } else if (generation > 0) {
      // Later, but in the async context that caused it.
      const deliver = boundToThisContext((waiting: E) => {
        this.#deliver(waiting);
      });
      this.#waiting.push({ event, generation: generation + 1, deliver });
    } else {
      this.#deliverAll(event);
    }
  }

  #deliverAll(event: E): void {
    const waiting = this.#waiting;
    this.#generation = 1;
    try {
      this.#deliver(event);
      for (const next of waiting) {
        this.#generation = next.generation;
        next.deliver(next.event);
      }
    } finally {
      this.#generation = 0;
      if (waiting.length > 0) waiting.length = 0;
    }
  }

  #deliver(event: E): void {
    for (const measure of this.#meters) {
      try {
        measure(event);
      } catch {
        // As below.
      }
    }
    let left = this.#listeners.size;
    for (const { call } of this.#listeners) {
      // A listener that was added meanwhile gets the next event. Otherwise one that adds another each time never returns.
      if (left === 0) return;
      left -= 1;
      try {
        // Each gets its own object: a listener that writes to it must not mislead the next.
        const result = call(left === 0 ? event : { ...event });
        if (result instanceof Promise) result.catch(ignore);
      } catch {
        // An error of a listener must not harm the delivery.
      }
    }
  }
}

function ignore(): void {
  // See Listeners.emit.
}
