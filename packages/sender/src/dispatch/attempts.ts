import type { EndpointAttempt } from '@webhook-backpressure/observe';
import { Deadlines, errorMessageOf, NO_DEADLINE, type Timed } from '@webhook-backpressure/base';
import type { Batch } from '../batches/batching.ts';
import { checkStored } from '../outbox/outgoing-event.ts';
import type { SenderContext } from '../outbox/sender-context.ts';
import { batchContent, eventContent } from '../requests/request-content.ts';
import { signatureHeaders } from '../requests/signatures.ts';
import { RequestFailure, type Answer, type OutgoingRequest, type Requester } from '../requests/request.ts';
import type { Destination, Learned } from './destinations.ts';
import type { Claim } from './settling.ts';

/** The events of one request: one, or a batch. */
export type Parcel = Batch<Claim>;

/** One request, from its start to its end. */
export class Attempt implements Timed<Attempt> {
  readonly destination: Destination;
  readonly learned: Learned;
  readonly parcel: Parcel;
  /** The fields of it that events report. `attempt`: the highest of its events. */
  readonly facts: EndpointAttempt;
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
  /** Ends the request. Its answer is ignored. */
  readonly controller: AbortController = new AbortController();

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
    const { id, claims } = parcel;
    let attempt = 0;
    for (const { ref } of claims) attempt = Math.max(attempt, ref.attempt);
    this.facts = { endpoint: destination.id, id, attempt, events: claims.length };
  }
}

/** Decides the consequences of the end of an attempt. */
export interface AttemptEnds {
  answered(attempt: Attempt, answer: Answer | RequestFailure): void;
  /** An event cannot be made a request of: its stored data is damaged. */
  damaged(attempt: Attempt, error: string): void;
  /** The process gives the attempt up. */
  abandoned(attempt: Attempt): void;
}

/** The requests in flight. Their deadlines share one timer. */
export class Attempts {
  readonly running: Set<Attempt> = new Set<Attempt>();
  readonly #context: SenderContext;
  readonly #requester: Requester;
  readonly #ends: AttemptEnds;
  readonly #deadlines: Deadlines<Attempt>;
  #onIdle: (() => void) | undefined;

  constructor(context: SenderContext, requester: Requester, ends: AttemptEnds) {
    this.#context = context;
    this.#requester = requester;
    this.#ends = ends;
    this.#deadlines = new Deadlines(context.settings.clock, context.now, this.#expire, () => undefined);
  }

  /** Resolves when no request is in flight. */
  idle(): Promise<void> {
    if (this.running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  start(destination: Destination, learned: Learned, parcel: Parcel): void {
    const { now, wall, settings, report } = this.#context;
    const nowMs = now();
    const sentAtMs = wall.rawMs();
    destination.inFlight += 1;
    const attempt = new Attempt(destination, learned, parcel, nowMs, this.#deadlines.livedMs(nowMs));
    this.running.add(attempt);
    learned.health.started();
    learned.pace.started(nowMs);
    learned.audit.started(learned.pace.limit, destination.inFlight, nowMs);
    report.totals.attempts += 1;
    if (parcel.claims.length > 1) report.totals.batches += 1;
    report.monitor?.started(destination.id, nowMs);
    if (report.listeners.any) {
      const waitedMs = Math.max(0, sentAtMs - parcel.claims[0].event.receivedAtMs);
      report.emit({ type: 'started', ...attempt.facts, waitedMs });
    }
    let request: OutgoingRequest;
    try {
      request = requestOf(attempt, sentAtMs);
    } catch (error) {
      this.#end(attempt);
      this.#ends.damaged(attempt, `The stored event is damaged: ${errorMessageOf(error)}`);
      return;
    }
    this.#deadlines.set(attempt, nowMs + settings.timeoutMs, nowMs);
    this.#requester.send(request).then(
      (answer) => {
        this.#finish(attempt, answer);
      },
      (error: unknown) => {
        this.#finish(attempt, this.#failureOf(attempt, error));
      },
    );
  }

  /** Gives all requests up, because the sender closes. */
  abandon(): void {
    for (const attempt of [...this.running]) {
      this.#end(attempt);
      attempt.controller.abort();
      this.#ends.abandoned(attempt);
    }
    this.#deadlines.stop();
  }

  #failureOf({ hasExpired }: Attempt, error: unknown): RequestFailure {
    const { timeoutMs } = this.#context.settings;
    if (hasExpired) return new RequestFailure('timeout', `No answer within ${String(timeoutMs)} ms.`);
    return error instanceof RequestFailure ? error : new RequestFailure('connection', errorMessageOf(error));
  }

  #finish(attempt: Attempt, answer: Answer | RequestFailure): void {
    if (attempt.isOver) return;
    attempt.livedMs = this.#deadlines.livedMs(this.#context.now()) - attempt.startedLivedMs;
    this.#end(attempt);
    this.#ends.answered(attempt, answer);
  }

  /**
   * Ends a request that takes too long. If the status has arrived, and only the body is slow, the request ends with the
   * status: otherwise what the endpoint has accepted would be sent again.
   */
  readonly #expire = (attempt: Attempt): void => {
    attempt.hasExpired = true;
    attempt.controller.abort();
  };

  /** The place in flight is free from now on, whether the result is stored or not. */
  #end(attempt: Attempt): void {
    attempt.isOver = true;
    this.#deadlines.clear(attempt);
    attempt.destination.inFlight -= 1;
    this.running.delete(attempt);
    if (this.running.size === 0) this.#onIdle?.();
  }
}

/** Throws if stored data is damaged. */
function requestOf({ parcel, learned, controller }: Attempt, sentAtMs: number): OutgoingRequest {
  const { url, secrets, origin } = learned.settings;
  for (const { event } of parcel.claims) checkStored(event);
  const [first, ...others] = parcel.claims;
  const { id, headers, body } = parcel.isBatch
    ? batchContent(parcel.id, [first.event, ...others.map(({ event }) => event)])
    : eventContent(first.event);
  const signed = signatureHeaders(secrets, id, sentAtMs, body);
  const asked = origin === undefined ? undefined : { 'webhook-request-origin': origin };
  const all = { ...headers, ...signed, ...asked };
  return { method: 'POST', url, headers: all, body, signal: controller.signal };
}
