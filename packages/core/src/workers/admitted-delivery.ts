import { abortController, type Controller, type Signal } from '../base/abort.ts';
import type { Admission, Permit } from '../delivery/admission.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { NO_DEADLINE, type Timed } from '../time/deadlines.ts';
import type { Outcome } from '../delivery/events.ts';
import type { Line, Queued } from '../queue/fair-queue.ts';
import type { Refusal } from '../delivery/refusal.ts';
import type { ReservePlace } from '../queue/reserve.ts';
import type { Account } from './worker-time.ts';

/** No reason that anybody can give: one field says whether, and why. */
const NOT_ABORTED = Symbol('not aborted');

/** What a place asks of the intake it belongs to. */
export interface DeliveryOwner {
  leave(admitted: AdmittedDelivery): void;
  release(admitted: AdmittedDelivery, outcome: Outcome): void;
  /** The sender of a delivery that is being handled has gone. */
  deserted(admitted: AdmittedDelivery): void;
}

/**
 * - `waiting`: in the queue
 * - `active`: holds a worker
 * - `outside`: in a dry run only: is handled, although it would have been refused or taken out
 * - `ended`: released, taken back, or withdrawn
 */
export type DeliveryState = 'waiting' | 'active' | 'outside' | 'ended';

/**
 * A delivery's place in the intake: its admission and its permit in one object, with the links of the queue and
 * of the deadlines in it, so that a delivery costs one allocation and, when it waits, a promise.
 */
export class AdmittedDelivery
  implements Admission, Permit, Queued<AdmittedDelivery>, Timed<AdmittedDelivery>
{
  readonly admitted = true;
  readonly key: string;
  readonly admittedAtMs: number;
  /** No start when it has waited so long. 0 for one that does not wait. */
  readonly maxWaitMs: number;
  /** For a refusal that comes after waiting. */
  readonly delivery: Delivery;
  state: DeliveryState = 'waiting';
  // Set when it starts, and not before: V8 keeps a fraction in an object of its own, and of a million that wait each
  // would have three more, which the collector has to copy.
  startedAtMs!: number;
  /** See {@link DrainRate.begin}. */
  beganMs!: number;
  saturatedAtStartMs!: number;
  stalledAtStartMs!: number;
  reserve: ReservePlace = 'none';
  isHandshake = false;
  /** What its worker is charged to. */
  account: Account | null = null;

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
  /** Why it was aborted. */
  #reason: unknown = NOT_ABORTED;
  #wait: Promise<Permit | Refusal> | null = null;
  #settle: ((result: Permit | Refusal) => void) | null = null;

  constructor(
    owner: DeliveryOwner,
    delivery: Delivery,
    key: string,
    admittedAtMs: number,
    maxWaitMs: number,
  ) {
    this.#owner = owner;
    this.delivery = delivery;
    this.key = key;
    this.admittedAtMs = admittedAtMs;
    this.maxWaitMs = maxWaitMs;
  }

  get waitedMs(): number {
    return this.startedAtMs - this.admittedAtMs;
  }

  /** No start at or after this time. */
  get expiresAtMs(): number {
    return this.admittedAtMs + this.maxWaitMs;
  }

  get isRepeated(): boolean {
    return this.delivery.retries !== false;
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

  /** Whether the handler was told to stop: then its handling time is not what the work takes. */
  get isBrokenOff(): boolean {
    return this.#reason !== NOT_ABORTED && this.#controller !== undefined;
  }

  abort(reason?: unknown): void {
    if (this.#reason !== NOT_ABORTED) return;
    this.#reason = reason;
    if (this.state === 'active') this.#owner.deserted(this);
    this.#controller?.abort(reason);
  }

  /** From now on `permit` is a promise. */
  wait(): void {
    this.#wait = new Promise((settle) => {
      this.#settle = settle;
    });
  }

  settle(result: Permit | Refusal): void {
    this.#settle?.(result);
    this.#settle = null;
  }

  leave(): void {
    this.#owner.leave(this);
  }

  release(outcome: Outcome = 'success'): void {
    this.#owner.release(this, outcome);
  }
}
