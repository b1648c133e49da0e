import {
  abortController,
  type Controller,
  NO_DEADLINE,
  shared,
  type Signal,
  type Timed,
} from '@webhook-backpressure/base';
import type { Admission, Permit } from '../delivery/admission.ts';
import type { Arrival } from '../delivery/arrival.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Outcome } from '../delivery/events.ts';
import type { Refusal } from '../delivery/refusal.ts';
import type { Line, Queued } from '../queue/fair-queue.ts';
import type { KeyLoad } from '../queue/key-loads.ts';

/** A reason that no caller can give, so that one field says both whether a delivery was aborted and why. */
const NOT_ABORTED = Symbol('not aborted');

/** What happens to an admitted delivery when its holder acts on it. */
export interface DeliveryOwner {
  leave(admitted: AdmittedDelivery): void;
  release(admitted: AdmittedDelivery, outcome: Outcome): void;
  /** The sender has disconnected while its delivery is being handled. */
  abandon(admitted: AdmittedDelivery): void;
}

/**
 * - `waiting`: in the queue
 * - `active`: holds a worker
 * - `outside`: in a dry run, handled although it would have been refused or withdrawn
 * - `ended`: released, revoked, or withdrawn
 */
export type DeliveryState = 'waiting' | 'active' | 'outside' | 'ended';

/**
 * An admitted delivery: its admission and its permit in one object, which also has the links of the queue and of the
 * deadlines. So a delivery costs one allocation and, if it is queued, a promise.
 */
export class AdmittedDelivery
  implements Admission, Permit, Queued<AdmittedDelivery>, Timed<AdmittedDelivery>
{
  readonly admitted = true;
  readonly key: string;
  /** The number of its admission, from 1. */
  readonly sequence: number;
  readonly admittedAtMs: number;
  /** The longest it may be queued. 0 for one that starts immediately. */
  readonly maxWaitMs: number;
  readonly delivery: Delivery;
  state: DeliveryState = 'waiting';
  /** A rule defers its refusal. */
  isDeferred = false;
  // Set at the start and not before: V8 keeps each fraction in a separate object, so a million queued deliveries would
  // have three million more objects, which the collector has to copy.
  startedAtMs!: number;
  /** The same in lived time: see {@link LivedTime}. */
  beganMs!: number;
  /** See {@link Deadlines.lateInAllMs}. */
  lateAtStartMs!: number;
  load: KeyLoad | null = null;

  line: Line<AdmittedDelivery> | null = null;
  ahead: AdmittedDelivery | null = null;
  behind: AdmittedDelivery | null = null;
  older: AdmittedDelivery | null = null;
  younger: AdmittedDelivery | null = null;
  dueStep: number = NO_DEADLINE;
  duePrevious: AdmittedDelivery | null = null;
  dueNext: AdmittedDelivery | null = null;

  readonly #owner: DeliveryOwner;
  #controller: Controller | undefined;
  #reason: unknown = NOT_ABORTED;
  #wait: Promise<Permit | Refusal> | null = null;
  #settle: ((result: Permit | Refusal) => void) | null = null;

  constructor(owner: DeliveryOwner, arrival: Arrival, sequence: number, maxWaitMs: number) {
    this.#owner = owner;
    this.delivery = arrival.delivery;
    this.key = arrival.key;
    this.sequence = sequence;
    this.admittedAtMs = arrival.nowMs;
    this.maxWaitMs = maxWaitMs;
  }

  get waitedMs(): number {
    return this.startedAtMs - this.admittedAtMs;
  }

  /** It must start before this time. */
  get expiresAtMs(): number {
    return this.admittedAtMs + this.maxWaitMs;
  }

  get isUnrepeated(): boolean {
    return this.delivery.retries === false;
  }

  /** No delivery that is never retried displaces it. */
  get isKept(): boolean {
    const { priority, handshake } = this.delivery;
    return this.isDeferred || priority === 'critical' || handshake === true;
  }

  get permit(): Permit | Promise<Permit | Refusal> {
    return this.#wait ?? this;
  }

  get signal(): Signal {
    if (this.#controller === undefined) {
      this.#controller = abortController();
      if (this.#reason !== NOT_ABORTED) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Whether the handler may have been interrupted: then its handling time is not what the work takes. */
  get isInterrupted(): boolean {
    return this.#reason !== NOT_ABORTED && this.#controller !== undefined;
  }

  abort(reason?: unknown): void {
    if (this.#reason !== NOT_ABORTED) return;
    this.#reason = reason;
    if (this.state === 'active') this.#owner.abandon(this);
    this.#controller?.abort(reason);
  }

  /** Its time is over, and its worker is free. */
  revoke(reason: unknown): void {
    this.abort(reason);
    revoked(this);
  }

  /** Makes `permit` a promise. */
  wait(): void {
    this.#wait = new Promise((settle) => {
      this.#settle = settle;
    });
  }

  settle(result: Permit | Refusal): void {
    this.#settle?.(result);
    this.#settle = null;
  }

  /** Settles the promise with the permit. */
  grant(): void {
    this.settle(this);
  }

  leave(): void {
    this.#owner.leave(this);
  }

  release(outcome: Outcome = 'success'): void {
    this.#owner.release(this, outcome);
  }
}

/** Not a field of each delivery: only few platforms have to learn of it. */
const callbacks = shared('revocations', () => new WeakMap<object, () => void>());

/** Calls back if the permit of an admission is revoked after `maxHandlingMs`. */
export function whenRevoked(place: Admission, callback: () => void): void {
  callbacks.set(place, callback);
}

/** Reports that the permit of an admission has been revoked. */
function revoked(place: Admission): void {
  callbacks.get(place)?.();
}
