import type { Deadlines } from '../time/deadlines.ts';
import { DrainRate } from './drain-rate.ts';
import type { Pacer } from './pacer.ts';
import type { AdmittedDelivery } from './admitted-delivery.ts';
import type { WorkerPool } from './worker-pool.ts';

/** What the meter looks at: the workers, the cap on starts that is in force, and the timer that tells standstills. */
export interface MeterParts {
  readonly pool: WorkerPool;
  pacer(): Pacer;
  readonly deadlines: Deadlines<AdmittedDelivery>;
}

/**
 * The drain rate of the workers that there are, under the cap that is in force, in the time that the process has lived
 * through (see {@link LivedTime}).
 */
export class DrainMeter {
  readonly #rate = new DrainRate();
  readonly #parts: MeterParts;

  constructor(parts: MeterParts) {
    this.#parts = parts;
  }

  /** Completions per second that the workers can sustain, or null before the first one. */
  rate(now: number): number | null {
    return this.#capped(this.#rate.rate(this.#lived(now), this.#parts.pool.size));
  }

  /** Likewise, less swayed by chance and by stalls, for what lies minutes ahead. */
  get steadyRate(): number | null {
    return this.#capped(this.#rate.steadyRate(this.#parts.pool.size));
  }

  /** See {@link DrainRate.sureRate}. */
  get sureRate(): number | null {
    return this.#capped(this.#rate.sureRate(this.#parts.pool.size));
  }

  /** See {@link DrainRate.paceAgeS}. */
  get paceAgeS(): number {
    return this.#rate.paceAgeS;
  }

  /** Milliseconds without a completion although all workers are busy; 0 when not all are. */
  gapMs(now: number): number {
    return this.#rate.gapMs(this.#lived(now));
  }

  /** How many times the longest usual gap that is; at least 1. */
  gapFactor(now: number): number {
    return this.#rate.gapFactor(this.#lived(now), this.#parts.pool.size);
  }

  /** Whether the workers stand still. */
  isStalled(now: number): boolean {
    return this.#rate.isStalled(this.#lived(now));
  }

  /** For how long the process has not looked at anything: what comes to light now may have waited for so long. */
  lagMs(now: number): number {
    return this.#parts.deadlines.lateMs(now);
  }

  /** The part of the last seconds in which the process was late, from 0 to 1. */
  get lateShare(): number {
    return this.#parts.deadlines.lateShare;
  }

  /** A place has been given its worker. */
  begin(admitted: AdmittedDelivery, now: number): void {
    const lived = this.#lived(now);
    const { pool } = this.#parts;
    if (!pool.isFree) this.#rate.saturate(lived);
    this.#rate.begin(admitted, lived, pool.size, lived - (now - admitted.startedAtMs));
  }

  /**
   * The handling of a place has ended.
   *
   * @param teaches - whether it took as long as it takes, and was not cut off.
   * @returns how long it took, in milliseconds.
   */
  end(admitted: AdmittedDelivery, now: number, teaches: boolean): number {
    const lived = this.#lived(now);
    if (teaches) this.#rate.complete(lived, admitted, this.#parts.pool.size);
    return lived - admitted.beganMs;
  }

  /** Notes whether all workers are busy. */
  look(now: number): void {
    const { pool } = this.#parts;
    if (pool.isFree !== this.#rate.saturated) return;
    if (pool.isFree) this.#rate.relax(this.#lived(now), pool.size);
    else this.#rate.saturate(this.#lived(now));
  }

  #lived(now: number): number {
    return this.#parts.deadlines.livedMs(now);
  }

  #capped(rate: number | null): number | null {
    return rate === null ? null : Math.min(rate, this.#parts.pacer().rate ?? Infinity);
  }
}
