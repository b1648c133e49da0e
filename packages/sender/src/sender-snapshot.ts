import type {
  EndpointSnapshot,
  EndpointState,
  RateAudit,
  SenderSnapshot,
} from '@webhook-backpressure/observe';
import { Destination } from './dispatch/destination.ts';
import { perSecondOf } from './options/settings.ts';
import type { SenderParts } from './sender-parts.ts';
import type { SenderMonitor } from './watch/sender-monitor.ts';

const MOST_ENDPOINTS = 1000;
const NO_AUDIT: RateAudit = { mostInASecond: 0, allowedInASecond: 0, excess: 0, mostInFlight: 0 };

/** The facts that only the sender knows. */
export interface SenderFacts {
  readonly state: SenderSnapshot['state'];
  readonly isPaused: boolean;
  readonly oldestReceivedAtMs: number | undefined;
  readonly monitor: SenderMonitor;
}

/** A copy of the state of a sender. */
export function senderSnapshot(parts: SenderParts, facts: SenderFacts): SenderSnapshot {
  const { level, settings, outbox, attempts, finished, health, sendingHealth, buckets, report, wall } = parts;
  const { oldestReceivedAtMs, state, isPaused, monitor } = facts;
  // First, since it may report an alarm, whose listeners may do anything.
  const alarms = monitor.alarms(parts.now());
  const hasOldest = oldestReceivedAtMs !== undefined && level.depth > 0;
  return {
    state,
    ...{ depth: level.depth, bytes: level.bytes, capacity: settings.capacity, maxBytes: settings.maxBytes },
    ...{ waitingSends: outbox.waiting, inFlight: attempts.count, shelved: finished.shelved.count },
    oldestAgeMs: hasOldest ? Math.max(0, wall.rawMs() - oldestReceivedAtMs) : 0,
    isPaused,
    isStoreFailing: !health.isWell || !sendingHealth.isWell,
    processes: buckets.processes,
    states: statesOf(parts),
    endpoints: busiestEndpoints(parts, monitor, MOST_ENDPOINTS),
    totals: report.read(),
    alarms,
  };
}

/** The endpoints with the most attempts, then those with the most events, then those that an operator may want to resume. */
export function busiestEndpoints(
  parts: SenderParts,
  monitor: SenderMonitor,
  most: number,
): readonly EndpointSnapshot[] {
  const { destinations, now, pauses, disabling } = parts;
  const found = new Map<string, Destination>();
  for (const id of monitor.busiest(now())) {
    const destination = destinations.peek(id);
    if (destination !== undefined) found.set(id, destination);
    if (found.size >= most) break;
  }
  if (found.size < most) {
    const others = [...destinations.values()].filter(({ id }) => !found.has(id));
    others.sort((a, b) => b.stored - a.stored);
    for (const one of others.slice(0, most - found.size)) found.set(one.id, one);
  }
  for (const ids of [pauses.ids, disabling.ids]) {
    for (const id of ids) {
      if (found.size >= most) break;
      if (!found.has(id)) found.set(id, destinations.peek(id) ?? new Destination(id));
    }
  }
  return Array.from(found.values(), (one) => endpointSnapshot(parts, monitor, one));
}

/** The endpoint of this id; undefined if nothing of it is known. */
export function findEndpoint(
  parts: SenderParts,
  monitor: SenderMonitor,
  id: string,
): EndpointSnapshot | undefined {
  const { destinations, pauses, disabling } = parts;
  const isStopped = pauses.ids.has(id) || disabling.reasonOf(id) !== undefined;
  const destination = destinations.peek(id) ?? (isStopped ? new Destination(id) : undefined);
  return destination && endpointSnapshot(parts, monitor, destination);
}

/** One endpoint at one moment. */
function endpointSnapshot(
  parts: SenderParts,
  monitor: SenderMonitor,
  destination: Destination,
): EndpointSnapshot {
  const { buckets, now, disabling } = parts;
  const { id, learned, queued, inFlight } = destination;
  const nowMs = now();
  const state = stateOf(parts, destination, nowMs);
  const disabledBecause = state === 'disabled' ? disabling.shownReasonOf(id) : undefined;
  const window = monitor.window(id, nowMs);
  const common = { endpoint: id, state, queued, inFlight, disabledBecause, window };
  const oldestAgeMs = ageOf(parts, destination);
  if (learned === undefined) {
    return {
      ...{ ...common, oldestAgeMs, tokens: null, audit: NO_AUDIT, pausedForMs: 0 },
      ...{ ratePerSecond: 0, setRatePerSecond: 0, maxInFlight: 0, setMaxInFlight: 0 },
      ...{ waitsBecause: undefined, lastError: undefined },
    };
  }
  const { pace, health, settings, limit, audit, lastError } = learned;
  const probeMs = health.isFailing && health.probeAtMs < Infinity ? health.probeAtMs : 0;
  return {
    ...{ ...common, oldestAgeMs, lastError },
    tokens: buckets.peek(id, pace.limit),
    ratePerSecond: perSecondOf(pace.limit),
    setRatePerSecond: perSecondOf(limit),
    ...{ maxInFlight: pace.maxInFlight, setMaxInFlight: settings.maxInFlight },
    pausedForMs: Math.max(0, Math.max(pace.waitUntilMs, probeMs) - nowMs),
    waitsBecause: state === 'waiting' ? pace.waitsBecause : undefined,
    audit: audit.report(),
  };
}

function stateOf(parts: SenderParts, { id, learned }: Destination, nowMs: number): EndpointState {
  const { disabling, pauses } = parts;
  if (disabling.shownReasonOf(id) !== undefined) return 'disabled';
  if (pauses.has(id)) return 'paused';
  if (learned === undefined) return 'active';
  if (learned.health.isFailing) return 'failing';
  return learned.pace.waitUntilMs > nowMs ? 'waiting' : 'active';
}

function statesOf(parts: SenderParts): Record<EndpointState, number> {
  const states = { active: 0, waiting: 0, failing: 0, paused: 0, disabled: 0 };
  const nowMs = parts.now();
  for (const destination of parts.destinations.values()) states[stateOf(parts, destination, nowMs)] += 1;
  return states;
}

/** Events in flight are claimed in the order of storing, so that one of them is the oldest, apart from waiting retries. */
function ageOf({ wall }: SenderParts, { oldestReceivedAtMs }: Destination): number {
  return oldestReceivedAtMs === undefined ? 0 : Math.max(0, wall.rawMs() - oldestReceivedAtMs);
}
