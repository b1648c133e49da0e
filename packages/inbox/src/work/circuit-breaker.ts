/** The delay before the first probe of an outage. It doubles with each probe up to the longest. */
const FIRST_PROBE_MS = 1000;
const MAX_PROBE_MS = 20_000;
/** Random spread, so that probes of several processes or keys that began together drift apart. */
const MIN_OF_DELAY = 0.75;
/** The duration of an outage after which attempts count again, as long as the default retries take. */
const COUNTS_AFTER_MS = 72 * 3_600_000;

/** The shortest step: a database that has just started lacks its caches and connections. */
const RAMP_STEP_MS = 1000;
/** The longest ramp. After it the usual limits apply. */
const MAX_RAMP_MS = 30_000;
/** Shares of successful attempts of a step: from the first one the limit doubles, below the second one it halves. */
const WIDEN_SHARE = 0.4;
const NARROW_SHARE = 0.25;

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
  /**
   * The most concurrent attempts while recovering: 1, then 2, 4 and so on while they succeed, because the backlog must not
   * overload a service that has just recovered.
   */
  #rampLimit = 1;
  #rampEndsMs = 0;
  #stepBeganMs = 0;
  #successes = 0;
  #failures = 0;

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
    this.#delayProbe(nowMs);
  }

  /** A probe has begun. */
  probed(nowMs: number): void {
    this.#intervalMs = Math.min(MAX_PROBE_MS, 2 * this.#intervalMs);
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
    return Math.floor(this.#intervalMs * (MIN_OF_DELAY + (1 - MIN_OF_DELAY) * this.#random()));
  }

  /** The most concurrent attempts while recovering, else Infinity. */
  limit(nowMs: number, workers: number): number {
    if (this.state !== 'ramp') return Infinity;
    if (this.#rampLimit < workers && nowMs < this.#rampEndsMs) return this.#rampLimit;
    this.state = 'closed';
    return Infinity;
  }

  /** When more attempts are allowed without any having ended; Infinity for never. */
  allowsMoreAtMs(nowMs: number): number {
    if (this.state === 'ramp') return this.#rampEndsMs;
    return this.state === 'open' && this.probeAtMs > nowMs ? this.probeAtMs : Infinity;
  }

  /** Returns whether the success ends an outage. */
  succeeded(nowMs: number): boolean {
    if (this.state === 'ramp') this.#noteInRamp(true, nowMs);
    if (!this.isFailing) return false;
    this.state = 'ramp';
    this.#rampLimit = 1;
    this.#rampEndsMs = nowMs + MAX_RAMP_MS;
    this.#beginStep(nowMs);
    return true;
  }

  /** Returns whether attempts count from now on, because the outage has lasted too long. */
  failed(nowMs: number): boolean {
    if (this.state === 'ramp') this.#noteInRamp(false, nowMs);
    if (this.state !== 'open' || nowMs - this.openedAtMs < COUNTS_AFTER_MS) return false;
    this.state = 'counting';
    return true;
  }

  #delayProbe(nowMs: number): void {
    this.probeAtMs = nowMs + this.delayMs;
  }

  #noteInRamp(isSuccess: boolean, nowMs: number): void {
    if (isSuccess) this.#successes += 1;
    else this.#failures += 1;
    const count = this.#successes + this.#failures;
    if (nowMs - this.#stepBeganMs < RAMP_STEP_MS || count < this.#rampLimit) return;
    const share = this.#successes / count;
    if (share >= WIDEN_SHARE) this.#rampLimit *= 2;
    else if (share < NARROW_SHARE) this.#rampLimit = Math.max(1, this.#rampLimit / 2);
    this.#beginStep(nowMs);
  }

  #beginStep(nowMs: number): void {
    this.#stepBeganMs = nowMs;
    this.#successes = 0;
    this.#failures = 0;
  }
}
