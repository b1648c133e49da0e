import { after, LATE, value, type Rule } from './rule.ts';

const INTAKE = 'core/src/intake/bounded-intake.ts';
const QUEUE = 'core/src/queue/fair-queue.ts';
const LOADS = 'core/src/queue/key-loads.ts';
const RESERVE = 'core/src/queue/reserve.ts';
const SWITCH_OFF = 'core/src/refusals/switch-off.ts';
const IS_NEAR = 'isNear({ name, switchOff }: SenderProfile, key: string, nowMs: number): boolean {';

/** Who is admitted, who starts, and how long a delivery may wait. */
export const ADMISSION_RULES: readonly Rule[] = [
  {
    name: 'reserve',
    size: [RESERVE],
    changes: [
      after(
        RESERVE,
        'const isFull = size >= effectiveCapacity - (isKeeping ? Math.min(MAX_KEPT, quarter) : 0);',
        "return isFull ? 'full' : 'shedding';",
      ),
      after(RESERVE, 'isOpenTo(key: string, isEntitled: boolean): boolean {', 'return false;'),
    ],
  },
  {
    name: 'reserve for small keys',
    size: 6,
    changes: [value(RESERVE, '(line?.size ?? 0) + 1 < this.#gate.low / turns / 2', 'false')],
  },
  {
    name: 'reserve: kept places',
    size: 6,
    changes: [value(RESERVE, 'isKeeping ? Math.min(MAX_KEPT, quarter) : 0', '0')],
  },
  {
    name: 'reserve: lower quarter for large keys',
    size: 12,
    changes: [value(RESERVE, 'Math.min(2 * quarter, effectiveCapacity / (keys + 1))', 'Infinity')],
  },
  {
    name: 'reserve: upper quarter for entitled deliveries',
    size: 2,
    changes: [value(RESERVE, 'isEntitled || size - high < 3 * quarter', 'true')],
  },
  {
    name: 'displacement',
    size: 30,
    changes: [after(INTAKE, '#displaceable(key: string): AdmittedDelivery | null {', 'return null;')],
  },
  {
    name: 'switch-off',
    size: [SWITCH_OFF, 'core/src/refusals/failure-window.ts'],
    changes: [
      value(SWITCH_OFF, 'run.failures >= mostInARow(inARow, run)', 'false'),
      after(SWITCH_OFF, IS_NEAR, 'return false;'),
    ],
  },
  {
    name: 'switch-off: overtime',
    size: 14,
    changes: [after(INTAKE, '#extends(admitted: AdmittedDelivery, now: number): boolean {', 'return false;')],
  },
  {
    name: 'switch-off: the reserve near a limit',
    size: 12,
    changes: [after(SWITCH_OFF, IS_NEAR, 'return false;')],
  },
  {
    name: 'learned timeouts',
    size: ['core/src/intake/learned-timeouts.ts'],
    changes: [
      value(
        'core/src/intake/learned-timeouts.ts',
        'Math.max(meanMs / 2, meanMs - 2 * deviationMs - HANDLINGS * this.#handlingMs(key))',
        'Infinity',
      ),
    ],
  },
  {
    name: 'refusal of too long waits',
    size: 12,
    changes: [after(INTAKE, '#waitsTooLong(arrival: Arrival): boolean {', 'return false;')],
  },
  {
    name: 'wait by turns (else by depth)',
    size: 8,
    changes: [
      after(QUEUE, 'turnsUntil(key: string, isUnrepeated: boolean): number {', 'return this.size + 1;'),
    ],
  },
  {
    name: 'lived time',
    matters: LATE,
    size: 60,
    changes: [
      after('base/src/time/deadlines.ts', 'at(nowMs: number, lateMs: number): number {', 'return nowMs;'),
    ],
  },
  {
    name: 'cost of a turn',
    size: [LOADS],
    changes: [value(LOADS, 'this.#meanMs === 0 ? 1 : load.meanMs / this.#meanMs', '1')],
  },
  {
    name: 'cost of a turn: similar keys alternate',
    size: 6,
    changes: [value(LOADS, 'cost < ALIKE && cost > 1 / ALIKE', 'false')],
  },
];
