import { after, LATE, value, type Rule } from './rule.ts';

const RATE = 'workers/drain-rate.ts';
const SHARES = 'workers/fair-shares.ts';
const AFTER = 'refusals/retry-after.ts';
const BOOKINGS = 'refusals/bookings.ts';
const SHARE = 'refusals/returning-share.ts';
const SHARED = 'refusals/shared-refusals.ts';

/** The Retry-After of refusals, the measured rate that this follows from, and the limits. */
export const RETRY_RULES: readonly Rule[] = [
  {
    name: 'reservations',
    size: ['refusals/reservations.ts', 'refusals/shared-promises.ts', 'refusals/promise-hash.ts'],
    changes: [after(AFTER, '): Reservation | SharedPromise | undefined {', 'return undefined;')],
  },
  {
    name: 'reservations: repeated to early retries',
    size: 3,
    changes: [value(AFTER, 'nowMs < reservation.dueMs', 'false')],
  },
  {
    name: 'expected retries',
    size: ['refusals/expected-retries.ts'],
    changes: [value(AFTER, 'tightRoom(refused, situation, steadyRate, 1000 / spacingMs)', 'null')],
  },
  {
    name: 'share of kept bookings',
    size: 45,
    changes: [value(SHARE, 'Math.max(LEAST_SHARE, share)', '1')],
  },
  {
    name: 'rate of first attempts',
    size: [SHARE],
    changes: [after(SHARE, 'shareForRetries(drainRate: number): number {', 'return 1;')],
  },
  {
    name: 'horizon: all of it',
    size: ['refusals/booking-horizon.ts'],
    changes: [value(AFTER, 'this.#horizonS(key, situation, gapFactor, steadyRate)', 'Infinity')],
  },
  {
    name: 'horizon: trusted pace',
    size: 22,
    changes: [value(AFTER, 'trustedHorizonS(ageS)', 'Infinity')],
  },
  {
    name: 'horizon: shared by new keys',
    size: 14,
    changes: [value(AFTER, 'sharedHorizonS(burstS)', 'Infinity')],
  },
  {
    name: 'horizon: overload of the process',
    matters: LATE,
    size: 14,
    changes: [value(AFTER, 'overloadHorizonS(burstS * lateShare)', '0')],
  },
  {
    name: 'horizon: completions ahead',
    size: 4,
    changes: [value(AFTER, 'COMPLETIONS_AHEAD / steadyRate', '0')],
  },
  {
    name: 'accounts by key',
    size: 90,
    changes: [
      value(BOOKINGS, 'this.#accounts.size < MAX_ACCOUNTS', 'false'),
      value(BOOKINGS, "key === '' || this.#accounts.size >= MAX_ACCOUNTS", 'true'),
    ],
  },
  {
    name: 'accounts: half for the line',
    size: 10,
    changes: [
      value(BOOKINGS, 'isShared ? 2 : 1', '1'),
      value(BOOKINGS, 'this.#accountsUntil > at ? 2 : 1', '1'),
      value(BOOKINGS, 'this.#accountsUntil > now ? 2 : 1', '1'),
      value(BOOKINGS, 'this.#lineUntil > at ? 2 : 1', '1'),
    ],
  },
  {
    name: 'rescale at a new pace',
    size: 16,
    changes: [after(BOOKINGS, 'rescale(factor: number): void {', 'return;')],
  },
  {
    name: 'jitter of bookings',
    size: 4,
    changes: [value(AFTER, 'Math.min(BOOKED_JITTER * delay, MAX_BOOKED_JITTER_S) * this.#random()', '0')],
  },
  {
    name: 'stall: stretched delays',
    size: 8,
    changes: [
      value(AFTER, '((atMs - nowMs) / 1000) * gapFactor', '(atMs - nowMs) / 1000'),
      value(AFTER, 'horizonS * Math.min(gapFactor, MOST_STRETCH)', 'horizonS'),
    ],
  },
  {
    name: 'stall: bookings dropped at its end',
    size: 6,
    changes: [after(AFTER, 'recover(): void {', 'return;')],
  },
  {
    name: 'stall: own Retry-After',
    size: 12,
    changes: [value(AFTER, 'situation.isStalled', 'false')],
  },
  {
    name: 'stall: caps the drain rate',
    size: 8,
    changes: [value(RATE, 'Math.min(rate, 3 / gapS)', 'rate')],
  },
  {
    name: 'stall: not counted',
    size: 20,
    changes: [value(RATE, 'Math.min(elapsedMs, left)', 'elapsedMs')],
  },
  {
    name: 'steady rate (else the quick one)',
    size: 45,
    changes: [
      value(
        RATE,
        'this.#steady.isEmpty ? null : this.#steady.rate(concurrency)',
        'this.#quick.isEmpty ? null : this.#quick.rate(concurrency)',
      ),
    ],
  },
  {
    name: 'saturated completions (else Little’s law alone)',
    size: 40,
    changes: [
      value(RATE, '(this.#completions + littleS * byLittle) / (this.#saturatedS + littleS)', 'byLittle'),
    ],
  },
  {
    name: 'sure rate (else the steady one)',
    size: 22,
    changes: [
      after(RATE, 'sureRate(concurrency: number): number | null {', 'return this.steadyRate(concurrency);'),
    ],
  },
  {
    name: 'limit per key: spacing of retries',
    size: 25,
    changes: [value(SHARES, '(this.#time.of(key)?.typicalMs ?? 0) / this.#most', '0')],
  },
  {
    name: 'limit per key: wait for own workers',
    size: 12,
    changes: [value(SHARES, 'Math.max(0, (before * account.typicalMs) / this.#most)', '0')],
  },
  {
    name: 'fleet exchange',
    size: [SHARED, 'refusals/fleet-exchange.ts', 'refusals/fleet-pace.ts', 'refusals/shared-promises.ts'],
    changes: [after(SHARED, 'learn(view: RefusalView, nowMs: number): void {', 'return;')],
  },
  {
    name: 'fleet exchange: promises',
    size: ['refusals/shared-promises.ts', 'refusals/promise-hash.ts'],
    changes: [
      after(
        SHARED,
        '#learnPromises(added: readonly number[], redeemed: readonly number[], nowMs: number): void {',
        'return;',
      ),
    ],
  },
  {
    name: 'adaptive concurrency: trials',
    size: ['limits/concurrency-trial.ts'],
    changes: [after('limits/concurrency-trial.ts', 'isFeltAt(limit: number): boolean {', 'return false;')],
  },
  {
    name: 'gate: longest span',
    size: 18,
    changes: [
      after(
        'queue/gate.ts',
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
        'queue/gate.ts',
        'export function effectiveCapacity(capacity: number, maxWaitMs: number, drainRate: number | null): number {',
        'return capacity;',
      ),
    ],
  },
];
