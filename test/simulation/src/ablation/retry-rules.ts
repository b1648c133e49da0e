import { after, LATE, value, type Rule } from './rule.ts';

const RATE = 'core/src/workers/drain-rate.ts';
const QUEUE = 'core/src/queue/fair-queue.ts';
const GATE = 'core/src/queue/gate.ts';
const AFTER = 'core/src/refusals/retry-after.ts';
const PROMISES = 'core/src/refusals/promises.ts';
const FIRST = 'core/src/refusals/first-attempts.ts';
const SHARED = 'core/src/refusals/shared-refusals.ts';

/** The Retry-After of refusals, and the measured rate that it follows from. */
export const RETRY_RULES: readonly Rule[] = [
  {
    name: 'promises',
    size: [PROMISES],
    changes: [after(PROMISES, '#find(arrival: Arrival): Promised | undefined {', 'return undefined;')],
  },
  {
    name: 'promises: the reserve on time',
    size: 6,
    changes: [value(PROMISES, 'promised !== undefined && isOnTime(promised, arrival.nowMs)', 'false')],
  },
  {
    name: 'promises: the time left for early retries',
    size: 3,
    changes: [value(AFTER, "strategy === 'booked' && nowMs < promisedMs", 'false')],
  },
  {
    name: 'rate of first attempts',
    size: [FIRST],
    changes: [after(FIRST, 'shareForRetries(drainRate: number): number {', 'return 1;')],
  },
  { name: 'horizon', size: 12, changes: [value(AFTER, 'horizonS(paceAgeS, lateS)', 'Infinity')] },
  {
    name: 'horizon: the square from 43 s on',
    size: 3,
    changes: [value(AFTER, 'paceAgeS * Math.min(MAX_HORIZON_PER_S, paceAgeS / 10)', '0')],
  },
  {
    name: 'horizon: late seconds',
    matters: LATE,
    size: 10,
    changes: [value(AFTER, 'HORIZON_PER_LATE_S * lateS', '0')],
  },
  {
    name: 'accounts by key',
    size: 60,
    changes: [
      value(AFTER, 'this.#joined.get(key) !== undefined', 'false'),
      value(AFTER, 'this.#accounts.size >= MAX_KEYS', 'true'),
    ],
  },
  {
    name: 'rescale at a new pace',
    size: 12,
    changes: [after(AFTER, '#rescale(factor: number, nowMs: number): void {', 'return;')],
  },
  {
    name: 'jitter of bookings',
    size: 3,
    changes: [value(AFTER, 'Math.min(BOOKED_JITTER * delay, MAX_JITTER_S) * this.#random()', '0')],
  },
  {
    name: 'stall: stretched delays',
    size: 4,
    changes: [
      value(AFTER, '((slotMs - nowMs) / 1000) * gapFactor', '(slotMs - nowMs) / 1000'),
      value(AFTER, 'Math.min(gapFactor, MAX_STRETCH)', '1'),
    ],
  },
  {
    name: 'stall: own Retry-After',
    size: 6,
    changes: [value(AFTER, 'isStalled || (drainRate === null && gapMs > 3000)', 'false')],
  },
  {
    name: 'stall: caps the drain rate',
    size: 4,
    changes: [value(RATE, 'Math.min(rate, 3 / gapS)', 'rate')],
  },
  {
    name: 'stall: not counted',
    size: 12,
    changes: [value(RATE, 'Math.min(elapsedMs, leftMs)', 'elapsedMs')],
  },
  {
    name: 'stall: no part of a handling time',
    size: 8,
    changes: [value(RATE, 'Math.max(0, Math.min(this.#stallMs, this.#stallEndMs - (nowMs - tookMs)))', '0')],
  },
  {
    name: 'weight of late handling times',
    matters: LATE,
    size: 12,
    changes: [value(RATE, 'Math.max(MIN_WEIGHT, 1 - lateMs / tookMs)', '1')],
  },
  {
    name: 'steady rate (else the quick one)',
    size: 35,
    changes: [
      value(
        RATE,
        'this.#steady.isEmpty ? null : Math.min(this.cap, this.#steady.rate(this.workers))',
        'this.#quick.isEmpty ? null : Math.min(this.cap, this.#quick.rate(this.workers))',
      ),
    ],
  },
  {
    name: 'saturated completions (else Little’s law alone)',
    size: 30,
    changes: [
      value(RATE, '(this.#completions + littleS * byLittle) / (this.#saturatedS + littleS)', 'byLittle'),
    ],
  },
  {
    name: 'limit per key: spacing of retries',
    size: 5,
    changes: [value(QUEUE, '(this.loads.of(key)?.meanMs ?? 0) / this.#mostPerKey', '0')],
  },
  {
    name: 'limit per key: wait for own workers',
    size: 6,
    changes: [after(QUEUE, 'ownWaitMs(key: string): number {', 'return 0;')],
  },
  {
    name: 'fleet exchange',
    size: [SHARED, 'core/src/refusals/fleet-exchange.ts', 'core/src/refusals/fleet-pace.ts'],
    changes: [after(SHARED, 'learn(view: RefusalView, nowMs: number): void {', 'return;')],
  },
  {
    name: 'gate: longest span',
    size: 10,
    changes: [
      after(
        GATE,
        'export function longestSpan(drainRate: number | null, unit = 1): number {',
        'return Infinity;',
      ),
    ],
  },
  {
    name: 'gate: effective capacity',
    size: 14,
    changes: [
      after(
        GATE,
        'export function effectiveCapacity(capacity: number, maxWaitMs: number, drainRate: number | null): number {',
        'return capacity;',
      ),
    ],
  },
];
