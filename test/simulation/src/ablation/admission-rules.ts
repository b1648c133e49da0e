import { after, LATE, value, type Rule } from './rule.ts';

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
      after(RESERVE, 'isOpenTo(key: string, isEntitled: boolean): boolean {', 'return false;'),
    ],
  },
  {
    name: 'reserve for small keys',
    size: 35,
    changes: [
      after(
        RESERVE,
        'function isSmall(line: ReserveLine | undefined, keys: number, low: number): boolean {',
        'return false;',
      ),
    ],
  },
  {
    name: 'reserve: kept places',
    size: 12,
    changes: [value(RESERVE, 'Math.min(this.#mostKept, Math.floor((effectiveCapacity - high) / 4))', '0')],
  },
  {
    name: 'reserve: no key more than half',
    size: 40,
    changes: [value(RESERVE, 'line.reserved >= most', 'false')],
  },
  {
    name: 'favored lines',
    size: [FAVORED, 'queue/start-share.ts'],
    changes: [
      after(FAVORED, 'if (line.favor === favor) return;', 'return;'),
      after(
        FAVORED,
        'if (!this.isOn || lines === undefined || (line !== undefined && line.favor !== favor)) return Infinity;',
        'return Infinity;',
      ),
    ],
  },
  {
    name: 'displacement',
    size: ['queue/displacement.ts'],
    changes: [after('queue/displacement.ts', 'youngestFor(key: string): T | null {', 'return null;')],
  },
  {
    name: 'switch-off guard',
    size: [GUARD],
    changes: [
      after(GUARD, 'if (profile?.switchOff === undefined || maxWaitMs === 0) return false;', 'return false;'),
      after(
        GUARD,
        'if (run === undefined || now >= untilMs || !this.spares(admitted)) return false;',
        'return false;',
      ),
      value(GUARD, 'run.failures >= this.#most(inARow, run.deferred.size)', 'false'),
    ],
  },
  {
    name: 'switch-off guard: hurry',
    size: 30,
    changes: [after(FAVORED, 'hurry(line: L): void {', 'return;')],
  },
  {
    name: 'handshakes',
    size: ['queue/handshakes.ts'],
    changes: [after('queue/handshakes.ts', 'tryBegin(nowMs: number): boolean {', 'return false;')],
  },
  {
    name: 'too late',
    size: ['queue/too-late.ts'],
    changes: [value('queue/too-late.ts', 'refuse(item)', 'undefined')],
  },
  {
    name: 'learned timeouts',
    size: ['intake/learned-timeouts.ts'],
    changes: [
      value(
        'intake/learned-timeouts.ts',
        'Math.max(meanMs / 2, meanMs - 2 * deviationMs - HANDLINGS * handlingMs)',
        'Infinity',
      ),
    ],
  },
  {
    name: 'refusal of too long waits',
    size: 16,
    changes: [
      value(WAIT, 'shares.ownWaitMs(key) > longestMs', 'false'),
      value(WAIT, 'shares.waitMs(key, rate, favorOf(delivery)) > leftMs', 'false'),
    ],
  },
  {
    name: 'wait by turns (else by depth)',
    size: 25,
    changes: [
      after(SHARES, 'turnsUntil(key: string, joining?: Favor): number {', 'return this.queue.size + 1;'),
    ],
  },
  {
    name: 'lag of the process counts as waited',
    matters: LATE,
    size: 14,
    changes: [after(METER, 'lagMs(now: number): number {', 'return 0;')],
  },
  {
    name: 'lived time',
    matters: LATE,
    size: ['time/lived-time.ts'],
    changes: [after('time/lived-time.ts', 'at(nowMs: number, lateMs: number): number {', 'return nowMs;')],
  },
  {
    name: 'weight of late service times',
    size: 20,
    changes: [value(METER, 'Math.min(1, Math.max(LEAST_WEIGHT, onTime / usual))', '1')],
  },
  {
    name: 'cost of a turn',
    size: 110,
    changes: [
      value(COSTS, 'alike(costOf(account.meanMs, this.#mean))', '1'),
      value(COSTS, 'costOf(tookMs, this.#mean) - charged', '0'),
      after(COSTS, 'get scale(): number {', 'return 1;'),
    ],
  },
  {
    name: 'cost of a turn: corrected at its end',
    size: 20,
    changes: [value(COSTS, 'costOf(tookMs, this.#mean) - charged', '0')],
  },
];
