import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { Heaped } from '@webhook-backpressure/base';
import type { Batching, Gathering } from '../batches/batching.ts';
import { RateAuditor } from '../buckets/rate-audit.ts';
import type { EndpointSettings } from '../options/endpoint-settings.ts';
import type { SenderContext } from '../outbox/sender-context.ts';
import { Breaker } from '../pace/breaker.ts';
import { LearningPace } from '../pace/learning-pace.ts';

/** No time. */
const NEVER = Infinity;
/** How many endpoints without events are remembered: their rate may be lowered, and their bucket empty. */
const MAX_IDLE = 10_000;
/** Results of an endpoint that are being stored, beside a cap of them: a slow store must not gather more and more. */
const SPARE_RESULTS = 32;

/** The learned limits and the health of an endpoint. They are kept for a while after the last event. */
export interface Learned {
  readonly pace: LearningPace;
  readonly health: Breaker;
  readonly audit: RateAuditor;
  /** Refused batches; undefined before the first batch. */
  batching: Batching | undefined;
  settings: EndpointSettings;
  /** The set limit: of the settings, or by an operator. */
  limit: BucketLimit;
  /** The last error; undefined after a success. */
  lastError: string | undefined;
}

/** Dispatch state of an endpoint that has events: small, because 100,000 endpoints may have some. */
export class Destination implements Heaped {
  readonly id: string;
  /** Position in the calendar; -1 outside. */
  heapIndex = -1;
  /** When the calendar returns it, on the monotonic clock. */
  atMs: number = NEVER;
  /** When the store has something to claim, on the monotonic clock; Infinity if it has nothing. */
  dueMs: number = NEVER;
  /** When the retries of a disabled endpoint may be made due again, so that they become dead letters soon. */
  hastenAtMs = 0;
  /** No token before this time. */
  tokenAtMs = 0;
  /** The events that wait for a batch; undefined without batches. */
  gathering: Gathering | undefined;
  /** Unfinished events, the claimed ones included. */
  stored = 0;
  /** Claims. */
  held = 0;
  /** Requests in flight. */
  inFlight = 0;
  /** How much the last claim returned: a hint how many tokens are useful. */
  lastClaimed = 0;
  /** Whether the settings are not known yet. */
  lacksSettings = false;
  /** Whether tokens or claims are being asked for. */
  isAsking = false;
  learned: Learned | undefined;
  /** When the oldest of the events that were claimed last was sent; undefined before the first claim. */
  oldestReceivedAtMs: number | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Events that are not in flight. */
  get queued(): number {
    return Math.max(0, this.stored - this.held);
  }

  /** Whether its last request succeeded, and its queued events are no backlog: all of them may be in flight. */
  get keepsUp(): boolean {
    return this.learned?.lastError === undefined && this.queued <= (this.learned?.pace.maxInFlight ?? 1);
  }

  /**
   * How many requests may start now, as far as the limits of requests in flight say.
   *
   * @param isClaimed - their events are claimed already.
   */
  room({ pace, health, settings }: Learned, processes: number, isClaimed = false): number {
    const { held, inFlight } = this;
    if (settings.isOrdered) return (isClaimed ? inFlight : held) === 0 ? 1 : 0;
    const cap = Math.max(1, Math.floor(pace.maxInFlight / processes));
    // A single probe, whose time the callers check.
    if (health.isFailing) return inFlight < cap ? 1 : 0;
    if (isClaimed) return cap - inFlight;
    const perRequest = settings.batch?.maxEvents ?? 1;
    const unsettled = Math.floor(held / perRequest) - inFlight;
    return Math.max(0, Math.min(cap - inFlight, cap + SPARE_RESULTS - unsettled));
  }

  /** When the next request may start, on the monotonic clock. Infinity: when another has ended. */
  nextStartMs(learned: Learned, processes: number, nowMs: number): number {
    const { pace, health, settings } = learned;
    pace.pass(nowMs);
    if (this.room(learned, processes) <= 0) return Infinity;
    // While the endpoint works, the time of a probe is 0.
    const atMs = Math.max(this.dueMs, this.tokenAtMs, pace.waitUntilMs, health.probeAtMs);
    if (settings.batch === undefined) return atMs;
    return Math.max(atMs, this.gathering?.readyAtMs(settings.batch) ?? 0);
  }
}

/** The endpoints that have events, and the learned limits of those that had some. */
export class Destinations {
  readonly #context: SenderContext;
  readonly #active = new Map<string, Destination>();
  /** The one that has been idle for longest is the first. */
  readonly #idle = new Map<string, Learned>();
  /** Limits that an operator has set in this process. */
  readonly #limits = new Map<string, BucketLimit>();

  constructor(context: SenderContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#active.size;
  }

  values(): IterableIterator<Destination> {
    return this.#active.values();
  }

  find(id: string): Destination | undefined {
    return this.#active.get(id);
  }

  /** The endpoint of this id, active or not, to look at it. */
  peek(id: string): Destination | undefined {
    const active = this.#active.get(id);
    const learned = this.#idle.get(id);
    if (active !== undefined || learned === undefined) return active;
    const idle = new Destination(id);
    idle.learned = learned;
    return idle;
  }

  /** The endpoint of this id, which becomes active. */
  at(id: string): Destination {
    const known = this.#active.get(id);
    if (known !== undefined) return known;
    const destination = new Destination(id);
    destination.learned = this.#idle.get(id);
    this.#idle.delete(id);
    this.#active.set(id, destination);
    return destination;
  }

  /** The endpoint has neither events nor requests. */
  retire({ id, learned }: Destination): void {
    const { buckets } = this.#context;
    this.#active.delete(id);
    if (learned === undefined) {
      buckets.forget(id);
      return;
    }
    this.#idle.set(id, learned);
    if (this.#idle.size <= MAX_IDLE) return;
    for (const oldest of this.#idle.keys()) {
      this.#idle.delete(oldest);
      buckets.forget(oldest);
      return;
    }
  }

  /** Replaces the limit of an endpoint in this process; undefined: by that of its settings. */
  setLimit(id: string, limit: BucketLimit | undefined): void {
    if (limit === undefined) this.#limits.delete(id);
    else this.#limits.set(id, limit);
    const destination = this.find(id);
    if (destination?.learned !== undefined) this.adjust(destination, destination.learned.settings);
  }

  /** What is learned about an endpoint, with these settings. */
  adjust(destination: Destination, settings: EndpointSettings): Learned {
    const { learned } = destination;
    const limit = this.#limits.get(destination.id) ?? settings.limit;
    if (learned?.settings === settings && learned.limit === limit) return learned;
    const nowMs = this.#context.now();
    if (learned !== undefined) {
      learned.settings = settings;
      learned.limit = limit;
      learned.pace.set(limit, settings.maxInFlight);
      // A higher rate may allow a start earlier.
      destination.tokenAtMs = 0;
      return learned;
    }
    return (destination.learned = {
      pace: new LearningPace(limit, settings.maxInFlight),
      health: new Breaker(this.#context.settings),
      audit: new RateAuditor(limit, nowMs),
      batching: undefined,
      settings,
      limit,
      lastError: undefined,
    });
  }
}
