import { isRecord } from '@webhook-backpressure/base';

/** More than any member reports. Sums of larger numbers could become infinite, and Retry-After no number. */
const MOST = 1e9;

/** What a member of a fleet lets the others know about its refusals, in its row of the registry. Plain JSON data. */
export interface RefusalState {
  /** Retries per second that it can handle; 0 while that is unknown. */
  readonly returnRate: number;
  /** Completions per second that its workers can sustain; 0 while that is unknown. */
  readonly drainRate: number;
  /** For how many seconds deliveries have been handled at that rate. */
  readonly paceAgeS: number;
  /** How far ahead of now its bookings extend, in seconds: of the keys with most, and under the empty key of all others. */
  readonly ahead: readonly (readonly [key: string, seconds: number])[];
  /** The gap since its last completion as a multiple of the longest usual gap; at least 1. */
  readonly gapFactor: number;
  /** Whether it has refused deliveries in the last seconds because of its queue. */
  readonly isShedding: boolean;
}

/** What has happened at a member since its last beat. Plain JSON data, of at most 16 KB. */
export interface RefusalNews {
  /** Since when, in seconds. */
  readonly spanS: number;
  /** New bookings by key, the keys with most bookings first; under the empty key those of all further keys. */
  readonly booked: readonly (readonly [key: string, count: number])[];
}

/** What a beat has brought. Data that is not as this release writes it is ignored. */
export interface RefusalView {
  /** The {@link RefusalState} of each other member. */
  readonly others: readonly unknown[];
  /** The {@link RefusalNews} of other members that have not been passed on before. */
  readonly news: readonly unknown[];
}

/**
 * The connection between the refusals of one receiver and its fleet. With it, each receiver books its retries behind
 * those of all others. All times are those of the intake's clock.
 */
export interface RefusalExchange {
  /** For this member's row. */
  state(nowMs: number): RefusalState;
  /** All news since the last {@link delivered}, or since the beginning. */
  news(nowMs: number): RefusalNews;
  /** The news that were last read have reached the registry. */
  delivered(): void;
  /** A beat has succeeded. */
  learn(view: RefusalView, nowMs: number): void;
  /** The receiver has left the fleet, and books for its own rate again. */
  leave(): void;
}

/** Undefined if the text is not the state of any release. */
export function refusalStateOf(data: unknown): RefusalState | undefined {
  if (!isRecord(data)) return undefined;
  const { returnRate, drainRate, paceAgeS, ahead, gapFactor, isShedding } = data;
  if (!isAmount(returnRate) || !isAmount(drainRate) || !isAmount(paceAgeS)) return undefined;
  if (!isAmount(gapFactor) || !Array.isArray(ahead) || !ahead.every(isAmountOfKey)) return undefined;
  return {
    returnRate,
    drainRate,
    paceAgeS,
    ahead,
    gapFactor: Math.max(1, gapFactor),
    isShedding: isShedding === true,
  };
}

/** Undefined if the text is not the news of any release. */
export function refusalNewsOf(data: unknown): RefusalNews | undefined {
  if (!isRecord(data)) return undefined;
  const { spanS, booked } = data;
  if (!isAmount(spanS) || !Array.isArray(booked) || !booked.every(isAmountOfKey)) return undefined;
  return { spanS, booked };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MOST;
}

function isAmountOfKey(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && isAmount(value[1]);
}
