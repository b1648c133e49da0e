import { Ramp } from './ramp.ts';

/** The first probe of an outage comes after this, and each later one after twice the time, up to the longest. */
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 20_000;
/** Probes of several processes, or keys, that began together must not stay together. */
const LEAST_OF_DELAY = 0.75;
/** What has failed for so long is no outage any more: attempts count again. As long as the default retries take. */
const PATIENCE_MS = 72 * 3_600_000;

/**
 * - `closed`: attempts succeed, or at least some do
 * - `open`: all fail; one is made now and then, and none counts
 * - `tired`: all have failed for too long; attempts are made and count as usual, until one succeeds
 * - `ramp`: one has succeeded; more and more run side by side
 */
export type BreakerState = 'closed' | 'open' | 'tired' | 'ramp';

/** Whether attempts are worth making, of all deliveries or of those of a key. */
export class Breaker {
  state: BreakerState = 'closed';
  /** When the next probe may begin, on the monotonic clock. */
  probeAtMs = 0;
  openedAtMs = 0;
  /** Since when a probe might have begun and has not, as nothing was due. */
  offeredAtMs: number | undefined;
  readonly #random: () => number;
  #intervalMs = FIRST_PROBE_MS;
  #ramp: Ramp | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  open(nowMs: number): void {
    this.state = 'open';
    this.openedAtMs = nowMs;
    this.offeredAtMs = undefined;
    this.#intervalMs = FIRST_PROBE_MS;
    this.#ramp = undefined;
    this.#delay(nowMs);
  }

  /** A probe has begun. */
  probed(nowMs: number): void {
    this.#intervalMs = Math.min(LONGEST_PROBE_MS, 2 * this.#intervalMs);
    this.#delay(nowMs);
  }

  /** The probe has ended, and it cannot be told from it whether others would succeed: another one may begin. */
  saidNothing(nowMs: number): void {
    if (this.state !== 'open') return;
    this.#intervalMs = Math.max(FIRST_PROBE_MS, this.#intervalMs / 2);
    this.probeAtMs = nowMs;
  }

  /** How long a delivery waits that has failed in an outage: it goes behind those that have not been tried in it. */
  get delayMs(): number {
    return Math.floor(this.#intervalMs * (LEAST_OF_DELAY + (1 - LEAST_OF_DELAY) * this.#random()));
  }

  /** How many may run side by side at the most, by what has been seen since the outage. */
  limit(nowMs: number, workers: number): number {
    if (this.state !== 'ramp' || this.#ramp === undefined) return Infinity;
    if (!this.#ramp.isOver(nowMs, workers)) return this.#ramp.limit;
    this.state = 'closed';
    this.#ramp = undefined;
    return Infinity;
  }

  /** While it is limited: when it is not any more, at the latest. */
  get rampEndsMs(): number {
    return this.#ramp?.endsAtMs ?? Infinity;
  }

  /** Whether that ends an outage. */
  succeeded(nowMs: number): boolean {
    if (this.state === 'ramp') this.#ramp?.note(true, nowMs);
    if (this.state !== 'open' && this.state !== 'tired') return false;
    this.state = 'ramp';
    this.#ramp = new Ramp(nowMs);
    return true;
  }

  /** Whether the outage has lasted so long that attempts count from now on. */
  failed(nowMs: number): boolean {
    if (this.state === 'ramp') this.#ramp?.note(false, nowMs);
    if (this.state !== 'open' || nowMs - this.openedAtMs < PATIENCE_MS) return false;
    this.state = 'tired';
    return true;
  }

  #delay(nowMs: number): void {
    this.probeAtMs = nowMs + this.delayMs;
  }
}
