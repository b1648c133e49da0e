import { stream } from '@webhook-backpressure/planner/parts';

/** What a handler does in one attempt. */
export interface Act {
  readonly does:
    'succeeds' | 'fails' | 'asks-for-later' | 'gives-up' | 'hangs' | 'blocks' | 'throws-anything';
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
  | { readonly what: 'store-away'; readonly atMs: number; readonly forMs: number }
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

const HABITS = [
  'retry-after',
  'retry-after',
  'exponential:5:2:60',
  'fixed:3',
  'svix',
  'schedule:1,5,20',
  'none',
];
const CALL_FAULTS: readonly CallFault[] = [
  ...([
    'fails-before',
    'fails-after',
    'fails-after',
    'late',
    'never',
    'twice',
    'short-lease',
    'forgotten',
  ] as const),
];
/** How long completed deliveries are kept, if they are. */
export const KEPT_MS = 600_000;
/** Senders and faults are busy for so long. */
const BUSY_MS = 90_000;

/** Draws everything about a run from its seed. */
export function draw(seed: number): Plan {
  const dice = new Dice(seed, 'plan');
  const kind = dice.of(['inboxes', 'inboxes', 'inboxes', 'senders', 'intakes'] as const);
  const processes = dice.of([1, 1, 2, 2, 3]);
  const isSynchronous = processes === 1 && dice.isLucky(0.3);
  const keys = ['a', 'b', 'c', 'd'].slice(0, dice.whole(1, 4));
  const roles = dice.some(processes, (at): Role => {
    if (processes === 1 || dice.isLucky(0.5)) return 'both';
    return at === 0 ? 'receiver' : at === 1 ? 'worker' : 'both';
  });
  const options = drawOptions(dice, keys);
  const rushMs = dice.of([100, 5000, BUSY_MS]);
  const isReliable = dice.isLucky(0.3);
  const deliveries = dice.some(dice.whole(3, dice.of([8, 20, 60])), (at) => ({
    // Keys may share ids.
    id: `d${String(dice.isLucky(0.1) ? Math.floor(at / 2) : at)}`,
    key: dice.of(keys),
    atMs: dice.whole(0, rushMs),
    habit: dice.of(HABITS),
    maxAttempts: dice.whole(1, 12),
    isRepeated: dice.isLucky(0.15),
    acts: isReliable
      ? [drawAct(dice, true)]
      : dice.some(dice.whole(0, dice.of([1, 3, 8])), () => drawAct(dice, dice.isLucky(0.4))),
  }));
  const faults = dice.isLucky(0.1) ? [] : drawFaults(dice, processes, isSynchronous);
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
    maxStartsPerSecond: dice.maybe(kind === 'limits' ? 0 : 0.2, () => dice.whole(1, 20)),
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
                ...(dice.isLucky(0.6) && { perSecond: dice.whole(1, 20), burst: dice.whole(1, 4) }),
                ...(dice.isLucky(0.6) && { maxConcurrent: dice.whole(1, 3) }),
              },
            ]),
          )
        : undefined,
  };
}

function drawAct(dice: Dice, isGood: boolean): Act {
  const ms = dice.whole(0, dice.of([5, 200, 3000]));
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
  return { does, ms };
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
  return [
    ...dice.some(dice.whole(0, dice.of([0, 4, 15])), call),
    ...dice.some(dice.whole(0, dice.of([0, 1, 4])), ends),
    ...dice.some(dice.of([0, 0, 1]), (): Fault => ({
      what: 'store-away',
      atMs: atMs(),
      forMs: dice.whole(100, 40_000),
    })),
    // Another process may claim what a failover has given back, while the first one still handles it.
    ...dice.some(isSynchronous || processes === 1 ? 0 : dice.of([0, 0, 0, 10]), (): Fault => ({
      ...{ what: 'call', process: dice.whole(0, processes - 1), call: dice.whole(0, 60), how: 'forgotten' },
    })),
    ...dice.some(dice.of([0, 0, 1, 2]), (): Fault => ({
      what: 'wall-jumps',
      atMs: atMs(),
      byMs: dice.whole(-300_000, 300_000),
    })),
  ];
}
