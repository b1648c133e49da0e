// The sizing formula, with the same rounding as `sizeQueue` of the core package: capacity = longest wait × drain rate.

export interface SizingInput {
  /** The longest acceptable wait, in seconds. */
  readonly waitSeconds: number;
  /** Completions per second. */
  readonly drainRate: number;
  /** The memory of one queued delivery. */
  readonly bytesPerDelivery: number;
  /** A burst: deliveries per second. */
  readonly burstRate: number;
  /** How long the burst lasts, in seconds. */
  readonly burstSeconds: number;
}

export interface Sizing {
  readonly capacity: number;
  readonly memoryBytes: number;
  /** When the burst has filled the queue, in seconds; null when it never does. */
  readonly fullAfterSeconds: number | null;
  /** Deliveries of the burst that are refused. */
  readonly refused: number;
  /** How long the queue takes to drain after the burst, in seconds. */
  readonly drainedAfterSeconds: number;
}

/** Undefined when an input is missing or out of range. */
export function sizing(input: SizingInput): Sizing | undefined {
  const { waitSeconds, drainRate, bytesPerDelivery, burstRate, burstSeconds } = input;
  const isPositive = (value: number): boolean => Number.isFinite(value) && value > 0;
  const isCount = (value: number): boolean => Number.isFinite(value) && value >= 0;
  if (!isPositive(waitSeconds) || !isPositive(drainRate)) return undefined;
  if (!isCount(bytesPerDelivery) || !isCount(burstRate) || !isCount(burstSeconds)) return undefined;
  const waitMs = Math.round(waitSeconds * 1000);
  const capacity = Math.max(1, Math.floor((waitMs * drainRate) / 1000));
  const surplus = burstRate - drainRate;
  const grown = Math.max(0, surplus * burstSeconds);
  return {
    capacity,
    memoryBytes: Math.ceil(capacity * bytesPerDelivery),
    fullAfterSeconds: grown > capacity ? capacity / surplus : null,
    refused: Math.max(0, Math.round(grown - capacity)),
    drainedAfterSeconds: Math.min(grown, capacity) / drainRate,
  };
}
