import type { Deadlines } from '../time/deadlines.ts';
import { DrainRate } from './drain-rate.ts';
import type { Pacer } from './pacer.ts';
import type { AdmittedDelivery } from './admitted-delivery.ts';
import type { Workers } from './workers.ts';

/** What the meter reads: the workers, the present cap on starts, and the timer that notices standstills. */
export interface MeterParts {
  readonly workers: Workers;
  pacer(): Pacer;
  readonly deadlines: Deadlines<AdmittedDelivery>;
}

/** Enough to know a drain rate until a service time says more. */
const LEAST_WEIGHT = 0.05;

/**
 * The drain rate of the present workers under the present cap, in lived time (see {@link LivedTime}).
 */
export class DrainMeter {
  readonly #rate = new DrainRate();
  readonly #parts: MeterParts;

  constructor(parts: MeterParts) {
    this.#parts = parts;
  }

  /** Completions per second that the workers can sustain; null before the first completion. */
  rate(now: number): number | null {
    return this.#capped(this.#rate.rate(this.#lived(now), this.#parts.workers.size));
  }

  /** The same, less affected by chance and by stalls, for a horizon of minutes. */
  get steadyRate(): number | null {
    return this.#capped(this.#rate.steadyRate(this.#parts.workers.size));
  }

  /** See {@link DrainRate.sureRate}. */
  get sureRate(): number | null {
    return this.#capped(this.#rate.sureRate(this.#parts.workers.size));
  }

  /** See {@link DrainRate.paceAgeS}. */
  get paceAgeS(): number {
    return this.#rate.paceAgeS;
  }

  /** Milliseconds without a completion while all workers are busy; 0 if not all are. */
  gapMs(now: number): number {
    return this.#rate.gapMs(this.#lived(now));
  }

  /** That gap as a multiple of the longest usual gap; at least 1. */
  gapFactor(now: number): number {
    return this.#rate.gapFactor(this.#lived(now), this.#parts.workers.size);
  }

  /** Whether the workers are stalled. */
  isStalled(now: number): boolean {
    return this.#rate.isStalled(this.#lived(now));
  }

  /** How late the event loop is: a delivery that is read now may have waited for that long. */
  lagMs(now: number): number {
    return this.#parts.deadlines.lateMs(now);
  }

  /** The part of the last seconds in which the event loop was late, from 0 to 1. */
  get lateShare(): number {
    return this.#parts.deadlines.lateShare;
  }

  /** See {@link DrainRate.scale}. */
  scale(factor: number): void {
    this.#rate.scale(factor);
  }

  /** The handling of a delivery begins. */
  begin(admitted: AdmittedDelivery, now: number): void {
    const lived = this.#lived(now);
    const { workers } = this.#parts;
    if (!workers.isFree) this.#rate.saturate(lived);
    this.#rate.begin(admitted, lived, workers.size, lived - (now - admitted.startedAtMs));
    admitted.lateAtStartMs = this.#parts.deadlines.lateInAllMs(now);
  }

  /**
   * The handling of a delivery has ended.
   *
   * @param teaches - whether it ended by itself, and was not interrupted.
   * @returns how long it took, in milliseconds.
   */
  end(admitted: AdmittedDelivery, now: number, teaches: boolean): number {
    const lived = this.#lived(now);
    if (teaches) this.#rate.complete(lived, admitted, this.#parts.workers.size, this.#weight(admitted, now));
    return lived - admitted.beganMs;
  }

  /** Checks whether all workers are busy. */
  look(now: number): void {
    const { workers } = this.#parts;
    if (workers.isFree !== this.#rate.saturated) return;
    if (workers.isFree) this.#rate.relax(this.#lived(now), workers.size);
    else this.#rate.saturate(this.#lived(now));
  }

  /**
   * How much the service time of a delivery says about the workers: the part of it in which the event loop was not later
   * than usual, above 0 and at most 1. The end of a handler is noticed late by up to the rest, and during a cold start
   * that is most of the time. If the loop is late all the time, that is usual, and part of the service time.
   */
  #weight({ startedAtMs, lateAtStartMs }: AdmittedDelivery, now: number): number {
    const { deadlines } = this.#parts;
    const lateMs = deadlines.lateInAllMs(now) - lateAtStartMs;
    if (lateMs === 0) return 1;
    const onTime = 1 - lateMs / (now - startedAtMs);
    const usual = Math.max(LEAST_WEIGHT, 1 - deadlines.usualLateShare);
    return Math.min(1, Math.max(LEAST_WEIGHT, onTime / usual));
  }

  #lived(now: number): number {
    return this.#parts.deadlines.livedMs(now);
  }

  #capped(rate: number | null): number | null {
    return rate === null ? null : Math.min(rate, this.#parts.pacer().rate ?? Infinity);
  }
}
