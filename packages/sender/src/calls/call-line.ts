import { type Heaped, isThenable, RetryAfter } from '@webhook-backpressure/base';
import type { BucketLimit, Buckets, TokenGrant } from '@webhook-backpressure/fleet';
import type { Judgment } from '../answers/judge.ts';
import { LearningPace } from '../pace/learning-pace.ts';
import { RefusalCap } from '../pace/refusal-cap.ts';
import { checked, type CallLimit, isSame, type NamedApiLimit } from './api-limits.ts';
import type { Aborts } from './aborts.ts';
import { CallTimes } from './call-times.ts';
import { type WaitingCall, WaitingCalls } from './waiting-calls.ts';

/** A call that was started. */
export interface StartedCall {
  readonly startedAtMs: number;
  /** Calls in flight then, this one included. */
  readonly inFlight: number;
  /** The limit whose token it has. */
  readonly limit: BucketLimit;
}

/** What all lines of a client use. */
export interface Lines {
  readonly buckets: Buckets;
  readonly maxWaitMs: number;
  readonly random: () => number;
  /** The monotonic clock. */
  readonly now: () => number;
  readonly aborts: Aborts;
  /** Wakes the line at this time; Infinity: never. */
  place(line: CallLine, atMs: number): void;
  /** A line without calls can be forgotten. */
  release(line: CallLine): void;
}

/** Chance makes a named wait longer by up to this share and time, so that processes do not all start at its end. */
const LATE = 0.2;
const LATE_MS = 2000;
/** Buckets that reject, although they should not, are asked again after this time. */
const BROKEN_MS = 1000;
/** Buckets that have no token now are not asked again before. */
const LEAST_MS = 1;
/** A wait that changes by less is not compared with the times of all calls. */
const NEWS_MS = 1000;

/**
 * The calls of one bucket: those that wait, in their order, and the count of those in flight. A call starts when there is a
 * place in flight and then a token was taken; neither is held while it waits for the other, so a call that hangs takes its
 * place and nothing else.
 */
export class CallLine implements Heaped {
  readonly name: string;
  heapIndex = -1;
  /** When the line has something to do; Infinity for never. */
  atMs: number;
  /** Calls that wait, are in flight, or between two attempts. */
  calls = 0;
  readonly #lines: Lines;
  readonly #waiting = new WaitingCalls();
  #given: NamedApiLimit;
  #maxInFlight: number;
  readonly #cap: RefusalCap;
  readonly #pace: LearningPace;
  #inFlight = 0;
  /** Whether shared buckets are asked. */
  #isAsking = false;
  /** No token before this time. */
  #tokenAtMs = 0;
  readonly #times: CallTimes = new CallTimes();
  /** Whether the times of all waiting calls must be compared with their waits. */
  #hasNews = false;

  constructor(lines: Lines, given: NamedApiLimit, { limit, maxInFlight }: CallLimit) {
    this.name = given.name;
    this.atMs = Infinity;
    this.#lines = lines;
    this.#given = given;
    this.#maxInFlight = maxInFlight;
    this.#cap = new RefusalCap(maxInFlight);
    const sharers = (): number => lines.buckets.processes;
    this.#pace = new LearningPace(limit, maxInFlight, { cap: this.#cap, sharers });
  }

  get isIdle(): boolean {
    return this.calls === 0 && !this.#isAsking;
  }

  /** The function may return another limit than before. */
  set(given: NamedApiLimit): void {
    const last = this.#given;
    if (given === last || isSame(given, last)) return;
    const { limit, maxInFlight } = checked(given);
    this.#given = given;
    this.#maxInFlight = maxInFlight;
    this.#pace.set(limit, maxInFlight);
    this.#tokenAtMs = 0;
  }

  /**
   * Resolves when the call may start, and has its place in flight. Rejects with a `RetryAfter` as soon as it is known that it
   * cannot start in its time, or with the reason of its signal.
   */
  enter(order: number, untilMs: number, signal: AbortSignal | null | undefined): Promise<StartedCall> {
    const { aborts } = this.#lines;
    return new Promise<StartedCall>((resolve, reject) => {
      const end = (): void => {
        if (signal) aborts.remove(signal, abort);
      };
      const call: WaitingCall = {
        ...{ order, untilMs, isJudged: false, before: undefined, after: undefined, isWaiting: false },
        begin: () => {
          end();
          const { limit } = this.#pace;
          resolve({ startedAtMs: this.#times.lastStartMs, inFlight: this.#inFlight, limit });
        },
        fail: (reason) => {
          end();
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of a signal can be any value.
          reject(reason);
        },
      };
      const abort = (): void => {
        this.#waiting.remove(call);
        call.fail(signal?.reason);
        this.#plan(this.#lines.now());
      };
      if (signal) aborts.add(signal, abort);
      this.#waiting.add(call);
      // A repeated call is not at the end.
      if (call.after !== undefined) this.#hasNews = true;
      this.serve(this.#lines.now());
    });
  }

  /** The call was aborted before its request was made. */
  unused({ limit }: StartedCall): void {
    this.#lines.buckets.giveBack(this.name, 1, limit);
    this.#tokenAtMs = 0;
    this.#ended();
  }

  /** There is no answer. */
  failed({ startedAtMs }: StartedCall): void {
    this.#pace.failed(startedAtMs, undefined, this.#lines.now());
    this.#ended();
  }

  /** Learns from the answer. */
  answered({ startedAtMs, inFlight }: StartedCall, { outcome, hints }: Judgment): void {
    const { buckets, random, now } = this.#lines;
    const nowMs = now();
    const pace = this.#pace;
    const { waitUntilMs: waitBeforeMs } = pace;
    if (outcome.kind === 'limited') {
      const { waitMs: namedMs } = outcome;
      const waitMs = namedMs && namedMs + random() * Math.min(LATE_MS, LATE * namedMs);
      this.#cap.refused(startedAtMs, Math.max(inFlight, this.#inFlight), nowMs);
      pace.limited(startedAtMs, waitMs, hints, nowMs);
    } else if (outcome.kind === 'down') pace.failed(startedAtMs, hints, nowMs);
    else pace.succeeded(startedAtMs, nowMs - startedAtMs, this.#inFlight, hints, nowMs);
    const waitMs = pace.waitUntilMs - nowMs;
    if (waitMs > 0 && pace.waitUntilMs !== waitBeforeMs) {
      buckets.pause(this.name, waitMs, pace.limit);
      this.#times.paused();
      this.#hasNews = true;
    }
    this.#ended();
  }

  /** The error for a call that cannot be repeated in this process, because its body is used up. */
  refusal(): RetryAfter {
    const nowMs = this.#lines.now();
    return this.#retryAfter(this.#waitMs(this.#waiting.size, nowMs), nowMs);
  }

  #ended(): void {
    this.#inFlight -= 1;
    this.serve(this.#lines.now());
  }

  /** Starts calls, and ends those that cannot start in their time: at {@link atMs}, and after each change. */
  serve(nowMs: number): void {
    const { buckets } = this.#lines;
    while (!this.#isAsking && this.#nextMs(nowMs) <= nowMs) {
      const wanted = Math.min(this.#room, this.#waiting.size);
      const { limit } = this.#pace;
      const grant = buckets.take(this.name, wanted, limit);
      if (isThenable(grant)) {
        this.#isAsking = true;
        grant.then(
          (granted) => {
            this.#asked(granted, wanted, limit);
          },
          () => {
            this.#asked({ taken: 0, waitMs: BROKEN_MS }, wanted, limit);
          },
        );
      } else this.#granted(grant, wanted, limit, nowMs);
    }
    if (!this.#isAsking) {
      this.#judge(nowMs);
      this.#expire(nowMs);
    }
    this.#plan(nowMs);
  }

  #asked(grant: TokenGrant, wanted: number, limit: BucketLimit): void {
    this.#isAsking = false;
    const nowMs = this.#lines.now();
    this.#granted(grant, wanted, limit, nowMs);
    this.serve(nowMs);
    this.#lines.release(this);
  }

  #granted({ taken, waitMs }: TokenGrant, wanted: number, limit: BucketLimit, nowMs: number): void {
    // Fewer than before, if some were aborted or refused while shared buckets were asked.
    const starts = Math.max(0, Math.min(taken, this.#waiting.size, this.#room));
    if (taken > starts) this.#lines.buckets.giveBack(this.name, taken - starts, limit);
    if (taken < wanted) {
      this.#tokenAtMs = nowMs + Math.max(LEAST_MS, waitMs);
      if (waitMs >= NEWS_MS) this.#hasNews = true;
    }
    if (starts === 0) return;
    this.#times.started(starts, this.#waiting.size > starts, nowMs);
    for (let left = starts; left > 0; left -= 1) {
      const call = this.#waiting.first as WaitingCall;
      this.#waiting.remove(call);
      this.#inFlight += 1;
      this.#pace.started(nowMs);
      call.begin();
    }
  }

  get #room(): number {
    const cap = Math.min(this.#maxInFlight, this.#cap.value);
    return Math.max(1, Math.floor(cap / this.#lines.buckets.processes)) - this.#inFlight;
  }

  /** When the next start may be; Infinity: when another call has ended, or has been made. */
  #nextMs(nowMs: number): number {
    if (this.#waiting.size === 0 || this.#room <= 0) return Infinity;
    this.#pace.pass(nowMs);
    return Math.max(this.#tokenAtMs, this.#pace.waitUntilMs);
  }

  #plan(nowMs: number): void {
    const untilMs = this.#waiting.first?.untilMs ?? Infinity;
    this.#lines.place(this, this.#isAsking ? Infinity : Math.min(this.#nextMs(nowMs), untilMs));
  }

  /** How long the next start is away at least, and after it `ahead` others. */
  #waitMs(ahead: number, nowMs: number): number {
    this.#pace.pass(nowMs);
    return Math.max(0, this.#tokenAtMs - nowMs, this.#pace.waitUntilMs - nowMs) + ahead * this.#intervalMs;
  }

  get #intervalMs(): number {
    return this.#times.intervalMs(this.#pace.limit, this.#lines.buckets.processes);
  }

  /** Calls that cannot start in their time fail now. */
  #judge(nowMs: number): void {
    const waiting = this.#waiting;
    let [call, ahead] = [waiting.last, waiting.size];
    // New ones are at the end.
    while (call !== undefined && (this.#hasNews || !call.isJudged)) [call, ahead] = [call.before, ahead - 1];
    this.#hasNews = false;
    for (call = call === undefined ? waiting.first : call.after; call !== undefined;) {
      const { after } = call;
      call.isJudged = true;
      const waitMs = this.#waitMs(ahead, nowMs);
      if (nowMs + waitMs > call.untilMs) {
        waiting.remove(call);
        call.fail(this.#retryAfter(waitMs, nowMs));
      } else ahead += 1;
      call = after;
    }
  }

  /** Calls whose time is over without a start. */
  #expire(nowMs: number): void {
    for (let { first } = this.#waiting; first !== undefined; { first } = this.#waiting) {
      if (first.untilMs > nowMs) return;
      this.#waiting.remove(first);
      // Without a place in flight nothing is known but that it takes longer.
      const waitMs = this.#room > 0 ? 0 : this.#lines.maxWaitMs;
      first.fail(this.#retryAfter(Math.max(this.#waitMs(1, nowMs), waitMs), nowMs));
    }
  }

  #retryAfter(waitMs: number, nowMs: number): RetryAfter {
    const leastMs = Math.max(0, this.#pace.waitUntilMs - nowMs);
    const { maxWaitMs, random, buckets } = this.#lines;
    const { amount, periodMs } = this.#pace.limit;
    // A call that comes early waits, and one that comes late leaves tokens unused: not longer than an equal part needs.
    const intervalMs = Math.min(this.#intervalMs, (periodMs / amount) * buckets.processes);
    const waits = { waitMs, leastMs, intervalMs, maxWaitMs };
    const seconds = this.#times.book(waits, random(), nowMs);
    return new RetryAfter(seconds, `The limit of ${this.name} allows this call in ${String(seconds)} s.`);
  }
}
