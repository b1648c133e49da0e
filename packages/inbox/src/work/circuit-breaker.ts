import { RecoveryRamp } from './recovery-ramp.ts';

/** The delay before the first probe of an outage. It doubles with each probe up to the longest. */
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 20_000;
/** Random spread, so that probes of several processes or keys that began together drift apart. */
const LEAST_OF_DELAY = 0.75;
/** The duration of an outage after which attempts count again, as long as the default retries take. */
const COUNTS_AFTER_MS = 72 * 3_600_000;

/**
 * - `closed`: at least some attempts succeed
 * - `open`: all attempts fail; a probe is made now and then, and none counts
 * - `counting`: all have failed for too long; attempts are made and count as usual until one succeeds
 * - `ramp`: one has succeeded; the number of concurrent attempts grows
 */
export type CircuitBreakerState = 'closed' | 'open' | 'counting' | 'ramp';

/** Decides how many attempts are made after failures, of all deliveries or of those of one key. */
export class CircuitBreaker {
  state: CircuitBreakerState = 'closed';
  /** When the next probe may begin, on the monotonic clock. */
  probeAtMs = 0;
  openedAtMs = 0;
  /** Since when a probe has been allowed but nothing was due. */
  offeredAtMs: number | undefined;
  readonly #random: () => number;
  #intervalMs = FIRST_PROBE_MS;
  #ramp: RecoveryRamp | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  get isFailing(): boolean {
    return this.state === 'open' || this.state === 'counting';
  }

  open(nowMs: number): void {
    this.state = 'open';
    this.openedAtMs = nowMs;
    this.offeredAtMs = undefined;
    this.#intervalMs = FIRST_PROBE_MS;
    this.#ramp = undefined;
    this.#delayProbe(nowMs);
  }

  /** A probe has begun. */
  probed(nowMs: number): void {
    this.#intervalMs = Math.min(LONGEST_PROBE_MS, 2 * this.#intervalMs);
    this.#delayProbe(nowMs);
  }

  /** The probe failed because of its delivery alone: another one may begin. */
  wasInconclusive(nowMs: number): void {
    if (this.state !== 'open') return;
    this.#intervalMs = Math.max(FIRST_PROBE_MS, this.#intervalMs / 2);
    this.probeAtMs = nowMs;
  }

  /** The delay of a delivery that has failed in an outage: behind deliveries that have not been tried in it. */
  get delayMs(): number {
    return Math.floor(this.#intervalMs * (LEAST_OF_DELAY + (1 - LEAST_OF_DELAY) * this.#random()));
  }

  /** The most concurrent attempts while recovering, else Infinity. */
  limit(nowMs: number, workers: number): number {
    if (this.state !== 'ramp' || this.#ramp === undefined) return Infinity;
    if (!this.#ramp.isOver(nowMs, workers)) return this.#ramp.limit;
    this.state = 'closed';
    this.#ramp = undefined;
    return Infinity;
  }

  /** When the limit ends at the latest. */
  get rampEndsMs(): number {
    return this.#ramp?.endsAtMs ?? Infinity;
  }

  /** When more attempts are allowed without any having ended; Infinity for never. */
  allowsMoreAtMs(nowMs: number): number {
    if (this.state === 'ramp') return this.rampEndsMs;
    return this.state === 'open' && this.probeAtMs > nowMs ? this.probeAtMs : Infinity;
  }

  /** Returns whether the success ends an outage. */
  succeeded(nowMs: number): boolean {
    if (this.state === 'ramp') this.#ramp?.note(true, nowMs);
    if (!this.isFailing) return false;
    this.state = 'ramp';
    this.#ramp = new RecoveryRamp(nowMs);
    return true;
  }

  /** Returns whether attempts count from now on, because the outage has lasted too long. */
  failed(nowMs: number): boolean {
    if (this.state === 'ramp') this.#ramp?.note(false, nowMs);
    if (this.state !== 'open' || nowMs - this.openedAtMs < COUNTS_AFTER_MS) return false;
    this.state = 'counting';
    return true;
  }

  #delayProbe(nowMs: number): void {
    this.probeAtMs = nowMs + this.delayMs;
  }
}
