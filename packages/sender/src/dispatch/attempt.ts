import { NO_DEADLINE, type Timed } from '@webhook-backpressure/base';
import type { EndpointAttempt } from '@webhook-backpressure/observe';
import type { Claim } from './claim.ts';
import type { Destination, Learned } from './destination.ts';

/** The events of one request: one, or a batch. */
export interface Parcel {
  /** The `webhook-id`. */
  readonly id: string;
  /** At least one, in order. */
  readonly claims: readonly [Claim, ...Claim[]];
  readonly isBatch: boolean;
  /** Whether it is a batch that was refused before. */
  readonly isRepeated: boolean;
}

/** One request, from its start to its end. */
export class Attempt implements Timed<Attempt> {
  readonly destination: Destination;
  readonly learned: Learned;
  readonly parcel: Parcel;
  readonly startedAtMs: number;
  /** The same without standstills of this process: see `Deadlines.livedMs`. */
  readonly startedLivedMs: number;
  /** How long it took, without standstills of this process. */
  livedMs = 0;
  /** Whether the endpoint was failing when it started. */
  readonly isProbe: boolean;
  /** Whether it took too long, so that its end is awaited. */
  hasExpired = false;
  isOver = false;
  dueStep: number = NO_DEADLINE;
  duePrevious: Attempt | null = null;
  dueNext: Attempt | null = null;
  readonly #controller = new AbortController();

  constructor(
    destination: Destination,
    learned: Learned,
    parcel: Parcel,
    startedAtMs: number,
    startedLivedMs: number,
  ) {
    this.destination = destination;
    this.learned = learned;
    this.parcel = parcel;
    this.startedAtMs = startedAtMs;
    this.startedLivedMs = startedLivedMs;
    this.isProbe = learned.health.isFailing;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the request. Its answer is ignored. */
  abort(): void {
    this.#controller.abort();
  }

  /** The fields of it that events report. */
  get facts(): EndpointAttempt {
    const { id, claims } = this.parcel;
    return {
      endpoint: this.destination.id,
      id,
      attempt: Math.max(...claims.map(({ ref }) => ref.attempt)),
      events: claims.length,
    };
  }
}
