import type {
  EndpointSnapshot,
  EndpointState,
  RateAudit,
  OutboxHandle,
  OutboxSnapshot,
} from '@webhook-backpressure/observe';
import { Destination } from './dispatch/destinations.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import type { Stops } from './dispatch/stops.ts';
import { perSecondOf } from './options/rates.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { SenderContext } from './outbox/sender-context.ts';

const MAX_ENDPOINTS = 1000;
const NO_AUDIT: RateAudit = { mostInASecond: 0, allowedInASecond: 0, excess: 0, mostInFlight: 0 };

/** Shows the state of a sender. */
export class OutboxView {
  readonly #context: SenderContext;
  readonly #outbox: Outbox;
  readonly #dispatcher: Dispatcher;
  readonly #stops: Stops;

  constructor(context: SenderContext, outbox: Outbox, dispatcher: Dispatcher, stops: Stops) {
    this.#context = context;
    this.#outbox = outbox;
    this.#dispatcher = dispatcher;
    this.#stops = stops;
  }

  /** A copy of the state. */
  snapshot(): OutboxSnapshot {
    const { level, settings, phase, finished, health, sendingHealth, buckets, report } = this.#context;
    return {
      state: phase !== 'open' ? phase : this.#outbox.isFull ? 'full' : 'accepting',
      depth: level.depth,
      bytes: level.bytes,
      capacity: settings.capacity,
      maxBytes: settings.maxBytes,
      waitingSends: this.#outbox.waiting,
      inFlight: this.#dispatcher.attempts.running.size,
      deadLetters: finished.deadLetters.count,
      oldestAgeMs: level.depth > 0 ? this.#ageMs(this.#context.oldestReceivedAtMs) : 0,
      isPaused: this.#stops.isAll,
      isStoreFailing: !health.isWell || !sendingHealth.isWell,
      processes: buckets.processes,
      states: this.#states(),
      endpoints: this.busiest(MAX_ENDPOINTS),
      totals: { ...report.totals },
    };
  }

  /** The endpoints with the most attempts, then those with the most events, then those that an operator may want to resume. */
  busiest(most: number): readonly EndpointSnapshot[] {
    const { destinations } = this.#dispatcher;
    const found = new Map<string, Destination>();
    const { report, now } = this.#context;
    for (const id of report.monitor?.busiest(now()) ?? []) {
      const destination = destinations.peek(id);
      if (destination !== undefined) found.set(id, destination);
      if (found.size >= most) break;
    }
    for (const one of fullest(destinations.values(), found, most - found.size)) found.set(one.id, one);
    for (const id of this.#stops.ids) {
      if (found.size >= most) break;
      if (!found.has(id)) found.set(id, destinations.peek(id) ?? new Destination(id));
    }
    return Array.from(found.values(), (one) => this.#endpoint(one));
  }

  /** The endpoint of this id; undefined if nothing of it is known. */
  find(id: string): EndpointSnapshot | undefined {
    const known = this.#dispatcher.destinations.peek(id);
    if (known === undefined && !this.#stops.isStopped(id)) return undefined;
    return this.#endpoint(known ?? new Destination(id));
  }

  /** One endpoint at one moment. */
  #endpoint(destination: Destination): EndpointSnapshot {
    const { buckets, report, now } = this.#context;
    const { id, learned, queued, inFlight, oldestReceivedAtMs } = destination;
    const nowMs = now();
    const state = this.#stateOf(destination, nowMs);
    const common = {
      endpoint: id,
      state,
      queued,
      inFlight,
      disabledBecause: state === 'disabled' ? this.#stops.shownReasonOf(id) : undefined,
      window: report.monitor?.window(id, nowMs),
      // Events in flight are claimed in the order of storing, so that one of them is the oldest, apart from waiting retries.
      oldestAgeMs: this.#ageMs(oldestReceivedAtMs),
    };
    if (learned === undefined) {
      return {
        ...common,
        tokens: null,
        ratePerSecond: 0,
        setRatePerSecond: 0,
        maxInFlight: 0,
        setMaxInFlight: 0,
        pausedForMs: 0,
        waitsBecause: undefined,
        lastError: undefined,
        audit: NO_AUDIT,
      };
    }
    const { pace, health, settings, limit, audit, lastError } = learned;
    const probeMs = health.probeAtMs < Infinity ? health.probeAtMs : 0;
    return {
      ...common,
      tokens: buckets.peek(id, pace.limit),
      ratePerSecond: perSecondOf(pace.limit),
      setRatePerSecond: perSecondOf(limit),
      maxInFlight: pace.maxInFlight,
      setMaxInFlight: settings.maxInFlight,
      pausedForMs: Math.max(0, Math.max(pace.waitUntilMs, probeMs) - nowMs),
      waitsBecause: state === 'waiting' ? pace.waitsBecause : undefined,
      lastError,
      audit: audit.report(),
    };
  }

  #stateOf({ id, learned }: Destination, nowMs: number): EndpointState {
    if (this.#stops.shownReasonOf(id) !== undefined) return 'disabled';
    if (this.#stops.isPaused(id)) return 'paused';
    if (learned === undefined) return 'active';
    if (learned.health.isFailing) return 'failing';
    return learned.pace.waitUntilMs > nowMs ? 'waiting' : 'active';
  }

  #states(): Record<EndpointState, number> {
    const states = { active: 0, waiting: 0, failing: 0, paused: 0, disabled: 0 };
    const nowMs = this.#context.now();
    for (const one of this.#dispatcher.destinations.values()) states[this.#stateOf(one, nowMs)] += 1;
    return states;
  }

  #ageMs(receivedAtMs: number | undefined): number {
    return receivedAtMs === undefined ? 0 : Math.max(0, this.#context.wall.rawMs() - receivedAtMs);
  }

  /** See `observe` of the package observe. */
  observeHandle(): OutboxHandle {
    const context = this.#context;
    const { settings, now, report, level, health, sendingHealth } = context;
    const { destinations } = this.#dispatcher;
    return {
      kind: 'outbox',
      clock: settings.clock,
      now,
      isOpen: () => context.phase === 'opening' || context.phase === 'open',
      depth: () => level.depth,
      storeFailingMs: () => Math.max(health.failingMs, sendingHealth.failingMs),
      queuedOf: (id) => destinations.find(id)?.queued ?? 0,
      forEachQueued: (action) => {
        for (const { id, queued } of destinations.values()) if (queued > 0) action(id, queued);
      },
      report: report.listeners.emit.bind(report.listeners),
      measure: (monitor) => {
        report.monitor = monitor;
      },
    };
  }
}

/** Those with the most events, in order, but for some that are known: without sorting 50,000 to find 1,000. */
function fullest(
  all: Iterable<Destination>,
  known: ReadonlyMap<string, Destination>,
  most: number,
): Destination[] {
  const found: Destination[] = [];
  const cut = (): void => {
    found.sort((a, b) => b.stored - a.stored);
    found.length = Math.min(found.length, most);
  };
  let least = -1;
  for (const one of all) {
    if (one.stored <= least || known.has(one.id)) continue;
    found.push(one);
    if (found.length <= 2 * most) continue;
    cut();
    least = found.at(-1)?.stored ?? Infinity;
  }
  cut();
  return found;
}
