import { first, LATE, value, type Rule } from './rule.ts';

const INTAKE = 'intake/bounded-intake.ts';
const GUARD = 'intake/switch-off-guard.ts';
const WAIT = 'intake/wait-limit.ts';
const RESERVE = 'queue/reserve.ts';
const FAVORED = 'queue/favored-lines.ts';
const METER = 'workers/drain-meter.ts';
const SHARES = 'workers/fair-shares.ts';
const COSTS = 'workers/worker-time.ts';

/** Who is admitted, who starts, and how long a delivery may wait. */
export const ADMISSION_RULES: readonly Rule[] = [
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
];
