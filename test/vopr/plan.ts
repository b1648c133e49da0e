import { stream } from '@webhook-backpressure/planner/parts';

/** What a handler does in one attempt. */
export interface Act {
  readonly does:
    'succeeds' | 'fails' | 'asks-for-later' | 'gives-up' | 'hangs' | 'blocks' | 'throws-anything' | 'kills';
  readonly ms: number;
}

/** A webhook, and what becomes of its attempts; all further ones succeed. */
export interface PlannedDelivery {
  readonly id: string;
  readonly key: string;
  readonly atMs: number;
  readonly habit: string;
  readonly maxAttempts: number;
  /** Whether the sender sends it once more after it was acknowledged. */
  readonly isRepeated: boolean;
  readonly acts: readonly Act[];
}

/** How a call of the store goes wrong. `forgotten`: its claims are lost in a failover, as the protocol allows. */
export type CallFault =
  'fails-before' | 'fails-after' | 'late' | 'never' | 'twice' | 'short-lease' | 'forgotten';

/** Something that goes wrong. */
export type Fault =
  | { readonly what: 'call'; readonly process: number; readonly call: number; readonly how: CallFault }
  | {
      readonly what: 'dies' | 'closes' | 'stops';
      readonly process: number;
      readonly atMs: number;
      readonly forMs: number;
    }
  | { readonly what: 'kills'; readonly key: string; readonly id: string; readonly afterMs: number }
  | { readonly what: 'store-away'; readonly atMs: number; readonly forMs: number }
  | { readonly what: 'tunes'; readonly process: number; readonly atMs: number; readonly concurrency: number }
  | { readonly what: 'wall-jumps'; readonly atMs: number; readonly byMs: number };

export type Role = 'both' | 'receiver' | 'worker';

export interface PlannedLimit {
  readonly perSecond?: number;
  readonly burst?: number;
  readonly maxConcurrent?: number;
}

/** The options of all processes of a run. */
export interface PlannedOptions {
  readonly concurrency: number;
  readonly capacity: number;
  readonly ordered: boolean;
  readonly maxHandlingMs: number;
  readonly maxStartsPerSecond: number | undefined;
  readonly maxConcurrencyPerKey: number | undefined;
  readonly attempts: number;
  readonly maxDeadLetters: number | undefined;
  readonly keepCompletedMs: number | undefined;
  readonly overflow: 'refuse' | 'dead-letter';
  readonly batches: number;
  readonly coalesces: boolean;
  /** By key. */
  readonly limits: Readonly<Record<string, PlannedLimit>> | undefined;
}

/** A run as data: the same plan is always the same history. */
export interface Plan {
  readonly seed: number;
  readonly kind: 'inboxes' | 'senders' | 'intakes';
  readonly roles: readonly Role[];
  /** Whether the store is called synchronously, as a file in the same process, by one process. */
  readonly isSynchronous: boolean;
  readonly options: PlannedOptions;
  readonly deliveries: readonly PlannedDelivery[];
  readonly faults: readonly Fault[];
  /** When faults stop. */
  readonly calmMs: number;
  /** Whether dead letters are redriven then. */
  readonly redrives: boolean;
  /** Whether receivers fetch what senders have given up. */
  readonly reconciles?: boolean;
}

/** Draws from a stream of random numbers. */
export class Dice {
  readonly random: () => number;

  constructor(seed: number, use: string) {
    this.random = stream(seed, use);
  }

  /** An integer from `min` to `max`. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1));
  }

  isLucky(chance: number): boolean {
    return this.random() < chance;
  }

  of<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)] as T;
  }

  /** The value, or nothing. */
  maybe<T>(chance: number, value: () => T): T | undefined {
    return this.isLucky(chance) ? value() : undefined;
  }

  some<T>(count: number, make: (at: number) => T): T[] {
    return Array.from({ length: count }, (_, at) => make(at));
  }
}

const KEYS = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at));
const HABITS = [
  'retry-after',
  'retry-after',
  'exponential:5:2:60',
  'fixed:3',
  'svix',
  'schedule:1,5,20',
  'none',
];
/** How the handlers of a run do. */
const MOODS = ['reliable', 'reliable', 'mixed', 'mixed', 'mixed', 'mixed', 'outage'] as const;
const CALL_FAULTS: readonly CallFault[] = [
  ...(['fails-before', 'fails-after', 'fails-after', 'late', 'never', 'twice', 'short-lease'] as const),
  'forgotten',
];
/** The most that a clock jumps. */
const JUMP_MS = 300_000;
/** How long completed deliveries are kept, if they are. */
const KEPT_MS = 1_200_000;
/** None is deleted before, with two jumps of the clock. */
export const SURELY_KEPT_MS: number = KEPT_MS - 2 * JUMP_MS;
/** An event loop stands still for so long, at most. */
const MAX_BLOCK_MS = 3000;
/** Senders and faults are busy for so long. */
const BUSY_MS = 90_000;

/** Draws everything about a run from its seed. */
export function draw(seed: number): Plan {
  const dice = new Dice(seed, 'plan');
  const kind = dice.of(['inboxes', 'inboxes', 'inboxes', 'senders', 'intakes'] as const);
  // Most rules about times and counts are exact only while little fails.
  const isSteady = dice.isLucky(0.2);
  const processes = isSteady && kind !== 'intakes' ? 1 : dice.of([1, 1, 2, 2, 3]);
  const isSynchronous = processes === 1 && dice.isLucky(0.3);
  const keys = KEYS.slice(0, dice.isLucky(0.2) ? KEYS.length : dice.whole(1, 4));
  const roles = dice.some(processes, (at): Role => {
    if (processes === 1 || dice.isLucky(0.5)) return 'both';
    return at === 0 ? 'receiver' : at === 1 ? 'worker' : 'both';
  });
  const drawn = drawOptions(dice, keys);
  const options = isSteady ? { ...drawn, maxHandlingMs: 60_000 } : drawn;
  const rushMs = dice.of([100, 5000, BUSY_MS]);
  const mood = isSteady ? 'steady' : dice.of(MOODS);
  const failing = dice.whole(0, 4);
  const deliveries = dice.some(dice.whole(3, mood === 'outage' ? 60 : dice.of([8, 20, 60])), (at) => ({
    // Keys may share ids.
    id: `d${String(dice.isLucky(0.1) ? Math.floor(at / 2) : at)}`,
    key: dice.of(keys),
    atMs: dice.whole(0, rushMs),
    habit: dice.of(HABITS),
    maxAttempts: dice.whole(1, 12),
    isRepeated: dice.isLucky(0.15),
    acts: drawActs(dice, mood, at < failing),
  }));
  const faults = isSteady ? drawSteadyFaults(dice) : drawFaults(dice, processes, isSynchronous);
  // A source without requests does not tell its time, so an own clock that is ahead is not noticed.
  const hasTime = faults.every(({ what }) => what !== 'wall-jumps');
  return {
    seed,
    kind,
    roles,
    isSynchronous,
    options,
    deliveries,
    faults,
    calmMs: BUSY_MS + 60_000,
    redrives: dice.isLucky(0.3),
    reconciles: hasTime && new Dice(seed, 'reconcile').isLucky(0.5),
  };
}

function drawOptions(dice: Dice, keys: readonly string[]): PlannedOptions {
  const kind = dice.of(['plain', 'plain', 'ordered', 'limits', 'batches', 'coalesces'] as const);
  const concurrency = dice.whole(1, 6);
  return {
    concurrency,
    capacity: dice.of([4, 10, 30, 1000]),
    ordered: kind === 'ordered',
    maxHandlingMs: dice.of([2000, 10_000, 60_000]),
    // Tokens of a key are taken before its claim, and the pace delays the start.
    maxStartsPerSecond: dice.maybe(kind === 'limits' ? 0 : 0.3, () => dice.whole(1, 20)),
    maxConcurrencyPerKey: dice.maybe(0.2, () => dice.whole(1, concurrency)),
    attempts: dice.of([1, 2, 4, 21]),
    maxDeadLetters: dice.maybe(0.2, () => dice.whole(1, 5)),
    keepCompletedMs: dice.maybe(0.2, () => KEPT_MS),
    overflow: dice.isLucky(0.15) ? 'dead-letter' : 'refuse',
    batches: kind === 'batches' ? dice.whole(2, 5) : 0,
    coalesces: kind === 'coalesces',
    limits:
      kind === 'limits'
        ? Object.fromEntries(
            keys.map((key) => [
              key,
              {
                ...(dice.isLucky(0.6) && {
                  perSecond: dice.isLucky(0.3) ? 0.2 : dice.whole(1, 20),
                  burst: dice.whole(1, 4),
                }),
                ...(dice.isLucky(0.6) && { maxConcurrent: dice.whole(1, 3) }),
              },
            ]),
          )
        : undefined,
  };
}

function drawActs(dice: Dice, mood: 'steady' | (typeof MOODS)[number], fails: boolean): Act[] {
  if (mood === 'outage') return dice.some(8, (): Act => ({ does: 'fails', ms: dice.whole(0, 200) }));
  if (mood === 'mixed')
    return dice.some(dice.whole(0, dice.of([1, 3, 8])), () => drawAct(dice, dice.isLucky(0.4)));
  const first: Act = { does: 'fails', ms: 5 };
  return [...(mood === 'steady' && fails ? [first] : []), drawAct(dice, true)];
}

function drawAct(dice: Dice, isGood: boolean): Act {
  const ms = dice.whole(0, dice.of([5, 200, 3000, 3000, 15_000]));
  if (isGood) return { does: 'succeeds', ms };
  const does = dice.of([
    'fails',
    'fails',
    'fails',
    'asks-for-later',
    'gives-up',
    'hangs',
    'blocks',
    'throws-anything',
  ] as const);
  return { does, ms: does === 'blocks' ? Math.min(ms, MAX_BLOCK_MS) : ms };
}

function drawSteadyFaults(dice: Dice): Fault[] {
  const fails = dice.some(dice.of([0, 0, 3]), (): Fault => ({
    ...{ what: 'call', process: 0, call: dice.whole(0, dice.of([10, 60])), how: 'fails-before' },
  }));
  return [...fails, ...dice.some(dice.of([0, 0, 20]), () => drawTune(dice, 0))];
}

function drawTune(dice: Dice, process: number): Fault {
  return {
    what: 'tunes',
    process,
    atMs: dice.whole(0, dice.of([1000, BUSY_MS])),
    concurrency: dice.whole(1, 6),
  };
}

function drawFaults(dice: Dice, processes: number, isSynchronous: boolean): Fault[] {
  const call = (): Fault => ({
    what: 'call',
    process: dice.whole(0, processes - 1),
    call: dice.whole(0, dice.of([10, 60, 200])),
    how: dice.of(isSynchronous ? (['fails-before', 'fails-after', 'twice'] as const) : CALL_FAULTS),
  });
  const ends = (): Fault => ({
    what: dice.of(['dies', 'dies', 'closes', 'stops']),
    process: dice.whole(0, processes - 1),
    atMs: dice.whole(0, BUSY_MS),
    forMs: dice.of([100, 5000, 40_000, 60_000]),
  });
  const atMs = (): number => dice.whole(0, BUSY_MS);
  const freed = dice.of(['forgotten', 'short-lease', 'short-lease'] as const);
  return [
    ...dice.some(dice.whole(0, dice.of([0, 4, 15])), call),
    ...dice.some(dice.whole(0, dice.of([0, 1, 4])), ends),
    ...dice.some(dice.of([0, 0, 1]), (): Fault => ({
      what: 'store-away',
      atMs: atMs(),
      forMs: dice.whole(100, 40_000),
    })),
    // Another process may claim what a failover or the end of a lease has freed, while the first one still handles it.
    ...dice.some(processes === 1 ? 0 : dice.of([0, 0, 20]), (): Fault => ({
      ...{ what: 'call', process: dice.whole(0, processes - 1), call: dice.whole(0, 100), how: freed },
    })),
    ...dice.some(dice.of([0, 0, 1, 2]), (): Fault => ({
      what: 'wall-jumps',
      atMs: atMs(),
      byMs: dice.whole(-JUMP_MS, JUMP_MS),
    })),
    ...dice.some(dice.of([0, 0, 4]), (): Fault => drawTune(dice, dice.whole(0, processes - 1))),
  ];
}
