/** A change of a source in `packages/core/src` that takes a rule out. */
export interface Change {
  readonly file: string;
  /** A text that occurs in the file. */
  readonly from: string;
  /** `value`: `to` replaces the expression `from`. `first`: the statement `to` follows `from`, the head of a function. */
  readonly as: 'value' | 'first';
  readonly to: string;
}

/** A rule of the decision. */
export interface Rule {
  readonly name: string;
  /** The sources that would go with it, or where it is a part of a file, about how many lines. */
  readonly size: readonly string[] | number;
  readonly changes: readonly Change[];
  /** The scenarios that it can matter in, by their names. Default all. */
  readonly matters?: RegExp;
}

/** Elsewhere the process takes no time, so no timer is late. */
const LATE = /^process/;
const FLEET = /^fleet/;
const PER_KEY = /per key/;
const ADAPTIVE = /^adaptive/;

function value(file: string, from: string, to: string): Change {
  return { file, from, as: 'value', to };
}

function first(file: string, from: string, to: string): Change {
  return { file, from, as: 'first', to };
}

const INTAKE = 'intake/bounded-intake.ts';
const GUARD = 'intake/switch-off-guard.ts';
const WAIT = 'intake/wait-limit.ts';
const RESERVE = 'queue/reserve.ts';
const FAVORED = 'queue/favored-lines.ts';
const METER = 'workers/drain-meter.ts';
const RATE = 'workers/drain-rate.ts';
const SHARES = 'workers/fair-shares.ts';
const COSTS = 'workers/worker-time.ts';
const AFTER = 'refusals/retry-after.ts';
const BOOKINGS = 'refusals/bookings.ts';
const SHARE = 'refusals/returning-share.ts';
const SHARED = 'refusals/shared-refusals.ts';

/** Everything that this instrument knows of the insides of the core. */
export const RULES: readonly Rule[] = [
  {
    name: 'reserve',
    size: [RESERVE],
    changes: [
      value(
        INTAKE,
        'reserve.ask(key, isEntitled, now, this.#settings.maxWaitMs, favorOf(delivery))',
        "'shedding'",
      ),
      first(RESERVE, 'isOpenTo(key: string, isEntitled: boolean): boolean {', 'return false;'),
    ],
  },
  {
    name: 'reserve for small keys',
    size: 35,
    changes: [
      first(
        RESERVE,
        'function isSmall(line: ReserveLine | undefined, keys: number, low: number): boolean {',
        'return false;',
      ),
    ],
  },
  {
    name: 'reserve: kept places',
    size: 12,
    changes: [first(RESERVE, 'get kept(): number {', 'return 0;')],
  },
  {
    name: 'reserve: no key more than half',
    size: 40,
    changes: [value(RESERVE, 'isAskedByOthers && line !== undefined && line.reserved >= most', 'false')],
  },
  {
    name: 'favored lines',
    size: [FAVORED, 'queue/start-share.ts'],
    changes: [
      first(FAVORED, 'place(line: L, favor: Favor): void {', 'return;'),
      first(FAVORED, 'startsUntil(line: L | undefined, favor: Favor): number {', 'return Infinity;'),
    ],
  },
  {
    name: 'displacement',
    size: ['queue/displacement.ts'],
    changes: [first('queue/displacement.ts', 'youngestFor(key: string): T | null {', 'return null;')],
  },
  {
    name: 'switch-off guard',
    size: [GUARD],
    changes: [
      first(
        GUARD,
        'keeps({ profile, maxWaitMs }: Delivery, key: string, now: number): boolean {',
        'return false;',
      ),
      first(GUARD, 'extends(admitted: AdmittedDelivery, now: number): boolean {', 'return false;'),
      first(GUARD, 'spares(admitted: AdmittedDelivery): boolean {', 'return false;'),
    ],
  },
  {
    name: 'switch-off guard: hurry',
    size: 30,
    changes: [first(FAVORED, 'hurry(line: L): void {', 'return;')],
  },
  {
    name: 'handshakes',
    size: ['queue/handshakes.ts'],
    changes: [first('queue/handshakes.ts', 'tryBegin(nowMs: number): boolean {', 'return false;')],
  },
  {
    name: 'too late',
    size: ['queue/too-late.ts'],
    changes: [
      first(
        'queue/too-late.ts',
        'step(nowMs: number, rate: TurnRate, refuse: (item: T) => void): void {',
        'return;',
      ),
    ],
  },
  {
    name: 'learned timeouts',
    size: ['intake/learned-timeouts.ts'],
    changes: [
      first(
        'intake/learned-timeouts.ts',
        'of(key: string, handlingMs: number, nowMs: number): number {',
        'return Infinity;',
      ),
    ],
  },
  {
    name: 'refusal of too long waits',
    size: 16,
    changes: [
      first(
        WAIT,
        'isExceeded(delivery: Delivery, key: string, longestMs: number, now: number): boolean {',
        'return false;',
      ),
    ],
  },
  {
    name: 'wait by turns (else by depth)',
    size: 25,
    changes: [
      first(SHARES, 'turnsUntil(key: string, joining?: Favor): number {', 'return this.queue.size + 1;'),
    ],
  },
  {
    name: 'lag of the process counts as waited',
    matters: LATE,
    size: 14,
    changes: [first(METER, 'lagMs(now: number): number {', 'return 0;')],
  },
  {
    name: 'lived time',
    matters: LATE,
    size: ['time/lived-time.ts'],
    changes: [first('time/lived-time.ts', 'at(nowMs: number, lateMs: number): number {', 'return nowMs;')],
  },
  {
    name: 'weight of late service times',
    matters: LATE,
    size: 20,
    changes: [value(METER, 'this.#weight(admitted, now)', '1')],
  },
  {
    name: 'cost of a turn',
    size: 110,
    changes: [
      value(COSTS, 'alike(costOf(account.meanMs, this.#mean))', '1'),
      value(COSTS, 'costOf(tookMs, this.#mean) - charged', '0'),
      first(COSTS, 'get scale(): number {', 'return 1;'),
    ],
  },
  {
    name: 'cost of a turn: corrected at its end',
    size: 20,
    changes: [value(COSTS, 'costOf(tookMs, this.#mean) - charged', '0')],
  },
  {
    name: 'reservations',
    size: ['refusals/reservations.ts', 'refusals/shared-promises.ts', 'refusals/promise-hash.ts'],
    changes: [first(AFTER, '): Reservation | SharedPromise | undefined {', 'return undefined;')],
  },
  {
    name: 'reservations: repeated to early retries',
    size: 3,
    changes: [value(AFTER, 'reservation !== undefined && nowMs < reservation.dueMs', 'false')],
  },
  {
    name: 'expected retries',
    size: ['refusals/expected-retries.ts'],
    changes: [value(AFTER, 'tightRoom(refused, situation, steadyRate, 1000 / spacingMs)', 'null')],
  },
  {
    name: 'share of kept bookings',
    size: 45,
    changes: [first(SHARE, 'shareKept(): number {', 'return 1;')],
  },
  {
    name: 'rate of first attempts',
    size: [SHARE],
    changes: [first(SHARE, 'shareForRetries(drainRate: number): number {', 'return 1;')],
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
    changes: [first(BOOKINGS, 'rescale(factor: number): void {', 'return;')],
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
    changes: [first(AFTER, 'recover(): void {', 'return;')],
  },
  {
    name: 'stall: own Retry-After',
    size: 12,
    changes: [value(AFTER, 'situation.isStalled', 'false')],
  },
  {
    name: 'stall: caps the drain rate',
    size: 8,
    changes: [value(RATE, 'gapS > this.#longGapS(concurrency)', 'false')],
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
      first(RATE, 'sureRate(concurrency: number): number | null {', 'return this.steadyRate(concurrency);'),
    ],
  },
  {
    name: 'limit per key: spacing of retries',
    matters: PER_KEY,
    size: 25,
    changes: [first(SHARES, 'spacingMs(key: string): number {', 'return 0;')],
  },
  {
    name: 'limit per key: wait for own workers',
    matters: PER_KEY,
    size: 12,
    changes: [first(SHARES, 'ownWaitMs(key: string): number {', 'return 0;')],
  },
  {
    name: 'fleet exchange',
    matters: FLEET,
    size: [SHARED, 'refusals/fleet-exchange.ts', 'refusals/fleet-pace.ts', 'refusals/shared-promises.ts'],
    changes: [first(SHARED, 'learn(view: RefusalView, nowMs: number): void {', 'return;')],
  },
  {
    name: 'fleet exchange: promises',
    matters: FLEET,
    size: ['refusals/shared-promises.ts', 'refusals/promise-hash.ts'],
    changes: [
      first(
        SHARED,
        '#learnPromises(added: readonly number[], redeemed: readonly number[], nowMs: number): void {',
        'return;',
      ),
    ],
  },
  {
    name: 'adaptive concurrency: trials',
    matters: ADAPTIVE,
    size: ['limits/concurrency-trial.ts'],
    changes: [first('limits/concurrency-trial.ts', 'isFeltAt(limit: number): boolean {', 'return false;')],
  },
  {
    name: 'gate: longest span',
    size: 18,
    changes: [
      first(
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
      first(
        'queue/gate.ts',
        'export function effectiveCapacity(capacity: number, maxWaitMs: number, drainRate: number | null): number {',
        'return capacity;',
      ),
    ],
  },
];
