import { TokenLevel, type BucketLimit } from '@webhook-backpressure/fleet';
import { MinHeap } from '@webhook-backpressure/base';
import { LearningPace } from '../../../packages/sender/src/pace/learning-pace.ts';
import { seeded } from './driven.ts';

/** Refuses what it does not accept. `capacity`: the most requests per second that it accepts in the long run. */
export interface LimitedReceiver {
  readonly capacity: number;
  /** Returns undefined for an accepted request, else the Retry-After in milliseconds; null: a refusal without one. */
  ask(nowMs: number, inFlight: number): number | null | undefined;
}

/** A token bucket, as `limit_req` of nginx. */
export function bucket(
  perSecond: number,
  burst: number,
  retryAfterMs: number | null = 1000,
  rateAt: (nowMs: number) => number = () => perSecond,
): LimitedReceiver {
  let tokens = burst;
  let atMs = 0;
  return {
    capacity: perSecond,
    ask: (nowMs) => {
      tokens = Math.min(burst, tokens + ((nowMs - atMs) * rateAt(nowMs)) / 1000);
      atMs = nowMs;
      if (tokens < 1 - 1e-9) return retryAfterMs;
      tokens -= 1;
      return undefined;
    },
  };
}

/** So many in each window of the clock. */
export function fixedWindow(count: number, windowMs: number): LimitedReceiver {
  let window = -1;
  let used = 0;
  return {
    capacity: (count * 1000) / windowMs,
    ask: (nowMs) => {
      const present = Math.floor(nowMs / windowMs);
      if (present !== window) used = 0;
      window = present;
      used += 1;
      return used <= count ? undefined : Math.ceil(((present + 1) * windowMs - nowMs) / 1000) * 1000;
    },
  };
}

/** So many in any window of this length. */
export function slidingWindow(count: number, windowMs: number): LimitedReceiver {
  const accepted: number[] = [];
  return {
    capacity: (count * 1000) / windowMs,
    ask: (nowMs) => {
      const oldestMs = accepted.at(-count);
      if (oldestMs !== undefined && oldestMs > nowMs - windowMs)
        return Math.ceil((oldestMs + windowMs - nowMs) / 1000) * 1000;
      accepted.push(nowMs);
      return undefined;
    },
  };
}

/** So many concurrently, each for `serviceMs`. */
export function concurrencyLimit(count: number, serviceMs: number): LimitedReceiver {
  return {
    capacity: (count * 1000) / serviceMs,
    ask: (_, inFlight) => (inFlight < count ? undefined : 1000),
  };
}

/** What is sent to a receiver. */
export interface Load {
  /** The rate that the senders are set to, in requests per second. */
  readonly setPerSecond: number;
  readonly forMs: number;
  readonly serviceMs?: number;
  readonly senders?: number;
  /** Events per second. Default: there is always something to send. */
  readonly offered?: number;
}

/** The results of a run. */
export interface Run {
  readonly goodput: number;
  readonly attemptsPerEvent: number;
  /** Events that wait, at the end of each second. */
  readonly backlog: readonly number[];
}

interface Step {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  heapIndex: number;
}

const NETWORK_MS = 2;
const REFUSAL_MS = 1;
const MAX_IN_FLIGHT = 500;

/** Sends to a receiver on its own clock, each sender by its own pace and bucket. */
export function sendTo(receiver: LimitedReceiver, load: Load, seed = 1): Run {
  const { setPerSecond, forMs, serviceMs = 50, senders = 1, offered } = load;
  const random = seeded(seed);
  const steps = new MinHeap<Step>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));
  const backlog: number[] = [];
  let [nowMs, order, attempts, accepted, inFlight] = [0, 0, 0, 0, 0];
  const at = (atMs: number, run: () => void): void => {
    steps.push({ atMs, order: (order += 1), run, heapIndex: 0 });
  };
  const limit: BucketLimit = {
    amount: Math.max(1, Math.round(setPerSecond * 10)),
    periodMs: 10_000,
    burst: Math.max(1, Math.floor(setPerSecond * 5)),
  };

  class Sender {
    waiting = offered === undefined ? Infinity : 0;
    readonly #pace = new LearningPace(limit, MAX_IN_FLIGHT);
    readonly #level = new TokenLevel(limit, 0);
    #inFlight = 0;
    #wakeMs = Infinity;

    send(): void {
      for (;;) {
        this.#pace.pass(nowMs);
        this.#level.set(this.#pace.limit, nowMs);
        if (this.waiting < 1 || this.#inFlight >= this.#pace.maxInFlight) return;
        const waitMs = Math.max(this.#pace.waitUntilMs - nowMs, this.#level.waitMs(1, nowMs));
        if (waitMs > 0) {
          this.#wake(nowMs + Math.max(0.001, waitMs));
          return;
        }
        this.#level.take(1, nowMs);
        this.#start();
      }
    }

    #wake(wakeMs: number): void {
      if (wakeMs >= this.#wakeMs && this.#wakeMs > nowMs) return;
      this.#wakeMs = wakeMs;
      at(wakeMs, () => {
        if (this.#wakeMs !== wakeMs) return;
        this.#wakeMs = Infinity;
        this.send();
      });
    }

    #start(): void {
      const startedAtMs = nowMs;
      this.waiting -= 1;
      this.#inFlight += 1;
      attempts += 1;
      this.#pace.started(nowMs);
      at(nowMs + NETWORK_MS, () => {
        const retryAfterMs = receiver.ask(nowMs, inFlight);
        if (retryAfterMs === undefined) {
          inFlight += 1;
          at(nowMs + serviceMs, () => (inFlight -= 1));
        }
        const tookMs = retryAfterMs === undefined ? serviceMs : REFUSAL_MS;
        at(nowMs + tookMs + NETWORK_MS, () => {
          this.#end(startedAtMs, retryAfterMs);
        });
      });
    }

    #end(startedAtMs: number, retryAfterMs: number | null | undefined): void {
      const busy = this.#inFlight;
      this.#inFlight -= 1;
      if (retryAfterMs === undefined) {
        accepted += 1;
        this.#pace.succeeded(startedAtMs, nowMs - startedAtMs, busy, undefined, nowMs);
      } else {
        this.waiting += 1;
        this.#pace.limited(startedAtMs, retryAfterMs ?? undefined, undefined, nowMs);
      }
      this.send();
    }
  }

  const all = Array.from({ length: senders }, () => new Sender());
  for (const sender of all) {
    at(0, () => {
      sender.send();
    });
  }
  if (offered !== undefined) {
    for (let ms = 0; ms < forMs; ms += 1000 / offered) {
      at(ms, () => {
        const sender = all[Math.floor(random() * senders)] as Sender;
        sender.waiting += 1;
        sender.send();
      });
    }
  }
  for (let ms = 1000; ms <= forMs; ms += 1000)
    at(ms, () => backlog.push(all.reduce((sum, { waiting }) => sum + waiting, 0)));
  for (let step = steps.pop(); step !== undefined && step.atMs <= forMs; step = steps.pop()) {
    nowMs = step.atMs;
    step.run();
  }
  return { goodput: (accepted * 1000) / forMs, attemptsPerEvent: attempts / accepted, backlog };
}
