import { inBackground, type Clock } from '@webhook-backpressure/base';
import { type Fate, type Scenario, Senders, type Traffic } from '@webhook-backpressure/planner/parts';
import { parseRetryAfter } from '@webhook-backpressure/sender';
import { type Answer, type Requester, RequestFailure } from '@webhook-backpressure/sender/parts';
import type { Composer } from '../requests/composer.ts';

/** What a {@link Volley} needs. */
export interface VolleyOptions {
  readonly scenario: Scenario;
  readonly traffic: Traffic;
  readonly url: URL;
  /** By index of the sender. */
  readonly composers: readonly Composer[];
  readonly requester: Requester;
  readonly clock: Clock;
  readonly wallClock: () => number;
  /** No attempt starts later than this after the beginning, in milliseconds. */
  readonly endMs: number;
  /** Attempts that start in one second. */
  readonly maxPerSecond: number;
}

/** The figures of a run while it lasts. */
export interface Tally {
  delivered: number;
  lost: number;
  attempts: number;
  inFlight: number;
  /** How long until the next attempt, in milliseconds; below 0 if it is late, Infinity without one. */
  readonly nextInMs: number;
}

/**
 * Requests that are under way, at most. Each takes a socket and about 30 kB; a system has 28,000 ports for connections to one
 * address.
 */
const MAX_IN_FLIGHT = 5000;
/** Between the turns of the event loop, so that answers are read while a burst is composed. */
const MAX_PER_TURN = 50;
/** The longest timer of Node.js. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const SECOND_MS = 1000;

/** Sends the deliveries of a scenario to an endpoint, as their senders do, until each is acknowledged or given up. */
export class Volley {
  readonly senders: Senders;
  readonly tally: Tally;
  /** How often each status was answered, or which failure there was instead. */
  readonly answers: Map<string, number> = new Map<string, number>();
  /** By kind of failure: the message of the first one. */
  readonly failures: Map<string, string> = new Map<string, string>();
  /** By delivery: what became of it; undefined while it is open. */
  readonly fates: (Exclude<Fate, 'retried'> | undefined)[];
  /** By delivery: from the start of the first attempt to the acknowledgement, for the sender; NaN without one. */
  readonly ackMs: Float64Array;
  /** How late an attempt started, at most. */
  maxLateMs = 0;
  readonly #options: VolleyOptions;
  readonly #lateMs: Float64Array;
  readonly #underWay = new Set<AbortController>();
  #startMs = 0;
  #timer: unknown;
  #second = 0;
  #startsInSecond = 0;
  #isStopped = false;
  #done: () => void = () => undefined;

  constructor(options: VolleyOptions) {
    const { scenario, traffic } = options;
    this.#options = options;
    const nextInMs = (): number => this.senders.nextMs - this.nowMs;
    this.tally = {
      delivered: 0,
      lost: 0,
      attempts: 0,
      inFlight: 0,
      get nextInMs() {
        return nextInMs();
      },
    };
    this.senders = new Senders(scenario, traffic, Infinity);
    this.fates = new Array<Exclude<Fate, 'retried'> | undefined>(traffic.count);
    this.ackMs = new Float64Array(traffic.count).fill(NaN);
    this.#lateMs = new Float64Array(traffic.count);
  }

  /** @param signal - ends the run: requests that are under way are aborted, and their deliveries stay open. */
  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = (): void => {
        this.#isStopped = true;
        for (const one of this.#underWay) one.abort();
        this.#settle();
      };
      this.#done = () => {
        this.#options.clock.clearTimeout(this.#timer);
        signal.removeEventListener('abort', stop);
        resolve();
      };
      this.#startMs = this.#options.clock.now();
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      else this.#pump();
    });
  }

  get nowMs(): number {
    return this.#options.clock.now() - this.#startMs;
  }

  /** Starts the attempts that are due. */
  readonly #pump = (): void => {
    for (let started = 0; started < MAX_PER_TURN && this.#isDue(); started += 1) {
      const now = this.nowMs;
      this.#attempt(this.senders.next(now), now);
    }
    this.#settle();
  };

  #isDue(): boolean {
    const { maxPerSecond } = this.#options;
    const now = this.nowMs;
    if (this.senders.nextMs > now || now > this.#options.endMs || this.#isStopped) return false;
    if (this.tally.inFlight >= MAX_IN_FLIGHT) return false;
    const second = Math.floor(now / SECOND_MS);
    if (second !== this.#second) this.#startsInSecond = 0;
    this.#second = second;
    return this.#startsInSecond < maxPerSecond;
  }

  /** Ends the run, or sets the timer of the next attempt. An answer makes room if too many are under way. */
  #settle(): void {
    const { clock, endMs, maxPerSecond } = this.#options;
    clock.clearTimeout(this.#timer);
    const now = this.nowMs;
    const isOver = this.#isStopped || now > endMs || this.senders.nextMs > endMs;
    if (this.senders.areDone || (isOver && this.tally.inFlight === 0)) {
      this.#done();
      return;
    }
    if (isOver || this.tally.inFlight >= MAX_IN_FLIGHT) return;
    const nextSecondMs = this.#startsInSecond >= maxPerSecond ? (this.#second + 1) * SECOND_MS : 0;
    const inMs = Math.max(this.senders.nextMs, nextSecondMs) - now;
    this.#timer = clock.setTimeout(this.#pump, Math.min(MAX_TIMER_MS, Math.max(0, inMs)));
    (this.#timer as { ref?: () => void } | undefined)?.ref?.();
  }

  #attempt(i: number, now: number): void {
    if (this.senders.attempt(i, now) === undefined) {
      this.#close(i, 'lost');
      return;
    }
    const { traffic, url, composers, requester, clock } = this.#options;
    const attempts = this.senders.seen.attempts[i] as number;
    if (attempts === 1) {
      const lateMs = now - (traffic.firstMs[i] as number);
      this.#lateMs[i] = lateMs;
      this.maxLateMs = Math.max(this.maxLateMs, lateMs);
    }
    this.tally.attempts += 1;
    this.tally.inFlight += 1;
    this.#startsInSecond += 1;
    const composer = composers[traffic.sender[i] as number] as Composer;
    const { headers, body } = composer.compose(i, attempts - 1);
    const controller = new AbortController();
    this.#underWay.add(controller);
    const timer = clock.setTimeout(() => {
      controller.abort();
    }, this.senders.timeoutMsOf(i));
    const end = (conclude: () => Fate | undefined): void => {
      clock.clearTimeout(timer);
      this.#underWay.delete(controller);
      this.tally.inFlight -= 1;
      // After the end of the run, the delivery stays open.
      const fate = this.#isStopped && controller.signal.aborted ? undefined : conclude();
      if (fate === 'delivered' || fate === 'lost') this.#close(i, fate);
      this.#settle();
    };
    inBackground(
      requester.send({ method: 'POST', url, headers, body, signal: controller.signal }).then(
        (answer) => {
          end(() => this.#answered(i, answer));
        },
        (error: unknown) => {
          end(() => this.#failed(i, error));
        },
      ),
    );
  }

  #answered(i: number, { status, header }: Answer): Fate {
    this.#count(String(status));
    const ms = parseRetryAfter(header('retry-after'), this.#options.wallClock());
    const unitMs = this.senders.unitOf(i) === 'ms' ? SECOND_MS : 1;
    const retryAfterS = ms === null ? undefined : ms / SECOND_MS / unitMs;
    const now = this.nowMs;
    const fate = this.senders.answered(i, status, now, retryAfterS);
    if (fate === 'delivered') this.ackMs[i] = this.senders.ageMs(i, now) - (this.#lateMs[i] as number);
    return fate;
  }

  #failed(i: number, error: unknown): Fate {
    const kind = error instanceof RequestFailure ? error.kind : 'connection';
    this.#count(kind);
    if (!this.failures.has(kind))
      this.failures.set(kind, error instanceof Error ? error.message : String(error));
    return this.senders.timedOut(i, this.nowMs);
  }

  #count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  #close(i: number, fate: 'delivered' | 'lost'): void {
    this.fates[i] = fate;
    this.tally[fate] += 1;
  }
}
