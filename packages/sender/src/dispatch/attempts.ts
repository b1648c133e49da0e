import { type Clock, Deadlines } from '@webhook-backpressure/base';
import { errorMessageOf } from '@webhook-backpressure/inbox/store';
import { batchContent, eventContent, type RequestContent } from '../outbox/request-content.ts';
import { RequestFailure, type Answer, type OutgoingRequest, type Requester } from '../requests/request.ts';
import { signatureHeaders } from '../requests/signature.ts';
import type { SenderReport } from '../watch/sender-report.ts';
import { Attempt, type Parcel } from './attempt.ts';
import type { Destination, Learned } from './destination.ts';

export interface AttemptParts {
  readonly clock: Clock;
  readonly now: () => number;
  /** The unfiltered wall clock, which is signed. */
  readonly sentAtMs: () => number;
  readonly timeoutMs: number;
  readonly requester: Requester;
  readonly report: SenderReport;
  /** Called with the answer. */
  readonly answered: (attempt: Attempt, answer: Answer | RequestFailure) => void;
  /** Called when an event cannot be made a request of: its stored data is damaged. */
  readonly damaged: (attempt: Attempt, error: string) => void;
  /** Called when the process gives an attempt up. */
  readonly abandoned: (attempt: Attempt) => void;
}

/** The requests in flight. Their deadlines share one timer. */
export class Attempts {
  readonly #parts: AttemptParts;
  readonly #running = new Set<Attempt>();
  readonly #deadlines: Deadlines<Attempt>;
  #onIdle: (() => void) | undefined;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#deadlines = new Deadlines(parts.clock, parts.now, this.#expire, () => undefined);
  }

  /** Requests in flight. */
  get count(): number {
    return this.#running.size;
  }

  /** Resolves when no request is in flight. */
  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  start(destination: Destination, learned: Learned, parcel: Parcel): void {
    const { now, timeoutMs, report, requester } = this.#parts;
    const nowMs = now();
    destination.inFlight += 1;
    const attempt = new Attempt(destination, learned, parcel, nowMs, this.#deadlines.livedMs(nowMs));
    this.#running.add(attempt);
    learned.health.started(nowMs);
    learned.audit.started(learned.pace.limit, destination.inFlight, nowMs);
    report.totals.attempts += 1;
    if (parcel.claims.length > 1) report.totals.batches += 1;
    report.monitor?.started(destination.id, nowMs);
    if (report.hasListeners)
      report.emit({ type: 'started', ...attempt.facts, waitedMs: this.#ageMs(attempt) });
    let request: OutgoingRequest;
    try {
      request = this.#requestOf(attempt);
    } catch (error) {
      this.#end(attempt);
      this.#parts.damaged(attempt, errorMessageOf(error));
      return;
    }
    this.#deadlines.set(attempt, nowMs + timeoutMs, nowMs);
    requester.send(request).then(
      (answer) => {
        this.#finish(attempt, answer);
      },
      (error: unknown) => {
        this.#finish(attempt, attempt.hasExpired ? this.#timeout() : failureOf(error));
      },
    );
  }

  /** Gives all requests up, because the sender closes. */
  abandon(): void {
    for (const attempt of [...this.#running]) {
      this.#end(attempt);
      attempt.abort();
      this.#parts.abandoned(attempt);
    }
    this.#deadlines.stop();
  }

  #timeout(): RequestFailure {
    return new RequestFailure('timeout', `No answer within ${String(this.#parts.timeoutMs)} ms.`);
  }

  #requestOf(attempt: Attempt): OutgoingRequest {
    const { settings } = attempt.learned;
    const { id, headers, body } = contentOf(attempt.parcel);
    const signed = signatureHeaders(settings.secrets, id, this.#parts.sentAtMs(), body);
    return { url: settings.url, headers: { ...headers, ...signed }, body, signal: attempt.signal };
  }

  #ageMs({ parcel }: Attempt): number {
    return Math.max(0, this.#parts.sentAtMs() - parcel.claims[0].event.receivedAtMs);
  }

  #finish(attempt: Attempt, answer: Answer | RequestFailure): void {
    if (attempt.isOver) return;
    attempt.livedMs = this.#deadlines.livedMs(this.#parts.now()) - attempt.startedLivedMs;
    this.#end(attempt);
    this.#parts.answered(attempt, answer);
  }

  /**
   * Ends a request that takes too long. If the status has arrived, and only the body is slow, the request ends with the
   * status: otherwise what the endpoint has accepted would be sent again.
   */
  readonly #expire = (attempt: Attempt): void => {
    attempt.hasExpired = true;
    attempt.abort();
  };

  /** The place in flight is free from now on, whether the result is stored or not. */
  #end(attempt: Attempt): void {
    attempt.isOver = true;
    this.#deadlines.clear(attempt);
    attempt.destination.inFlight -= 1;
    this.#running.delete(attempt);
    if (this.#running.size === 0) this.#onIdle?.();
  }
}

function contentOf({ id, claims: [first, ...others], isBatch }: Parcel): RequestContent {
  if (!isBatch) return eventContent(first.event);
  return batchContent(id, [first.event, ...others.map(({ event }) => event)]);
}

function failureOf(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  return new RequestFailure('connection', errorMessageOf(error));
}
