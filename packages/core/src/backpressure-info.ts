import { keptIdOf, keyOf, type Delivery } from './delivery.ts';
import type { Intake } from './intake.ts';

/** What a handler finds about the delivery that it handles. */
export interface BackpressureInfo {
  /** The share of the queue that it counts against. */
  readonly key: string;
  /** The sender, if it was recognised. */
  readonly sender: string | undefined;
  /** The delivery id, if there is one. */
  readonly id: string | undefined;
  /** Milliseconds that it waited in the queue. */
  readonly waitedMs: number;
}

/**
 * Also remembers which intakes let the request in: mounted twice, by the app and by a route, the second permit would
 * wait for the first. It is remembered here, and not in a set of requests, since this object is made anyway.
 */
export class PassedInfo implements BackpressureInfo {
  readonly key: string;
  readonly sender: string | undefined;
  readonly id: string | undefined;
  readonly waitedMs: number;
  readonly #intake: Intake;
  readonly #earlier: BackpressureInfo | undefined;

  /** `earlier`: what another intake had found out about the request. */
  constructor(delivery: Delivery, waitedMs: number, intake: Intake, earlier: BackpressureInfo | undefined) {
    this.key = keyOf(delivery);
    this.sender = delivery.profile?.name;
    this.id = keptIdOf(delivery);
    this.waitedMs = waitedMs;
    this.#intake = intake;
    this.#earlier = earlier;
  }

  /** Whether the request of which this is told has been let in by the intake. */
  static isOf(info: BackpressureInfo | undefined, intake: Intake): boolean {
    let passed = info;
    // A user may have put something else in its place.
    while (typeof passed === 'object' && (passed as unknown) !== null && #intake in passed) {
      if (passed.#intake === intake) return true;
      passed = passed.#earlier;
    }
    return false;
  }
}
