/** Failures in a row after which an endpoint counts as down. */
const FAILURES = 5;
/** The longest delay before the first probe. It doubles with each probe that fails. */
const FIRST_PROBE_MS = 5000;
const MAX_PROBE_MS = 600_000;
/** The shortest delay, as a share of the longest: endpoints that failed together are not probed together. */
const MIN_SHARE = 0.5;
/** The age of events proves a long failure only after this process has seen the endpoint fail for so long. */
const OWN_EVIDENCE_MS = 3_600_000;

/** How a {@link Breaker} decides. */
export interface BreakerOptions {
  readonly disableAfterMs: number;
  readonly random: () => number;
}

/**
 * Stops attempts at an endpoint that does not work, apart from one probe at a time, so that its other events keep their
 * attempts. Requests that were in flight when it opened neither lengthen the delay nor count as probes; a success of one
 * of them closes it.
 */
export class Breaker {
  /** While failing: when the next probe may start; Infinity while one is in flight. Otherwise 0. */
  probeAtMs = 0;
  /** Whether it has failed for `disableAfterMs`. */
  isOver = false;
  readonly #options: BreakerOptions;
  #failures = 0;
  #openedAtMs = 0;
  #refusedAtMs = -Infinity;
  #probes = 0;
  /** Since when nothing but failures is known. */
  #failingSinceMs = Infinity;
  /** Since when this process has seen nothing but failures. */
  #seenSinceMs = Infinity;
  /** An endpoint that answered once in this process has not been failing for longer, however old its events are. */
  #hasAnswered = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Whether attempts fail one after another. */
  get isFailing(): boolean {
    return this.#failures >= FAILURES;
  }

  /** An attempt starts; while failing, it is the probe. */
  started(): void {
    if (this.isFailing) this.probeAtMs = Infinity;
  }

  /** The endpoint answered, whatever it said, so it works. */
  answered(): void {
    this.#hasAnswered = true;
    this.#failures = 0;
    this.#probes = 0;
    this.probeAtMs = 0;
    this.#failingSinceMs = this.#seenSinceMs = Infinity;
    this.isOver = false;
  }

  /**
   * @param startedAtMs - when the attempt started, on the monotonic clock.
   * @param ageMs - since the event was sent.
   */
  failed(startedAtMs: number, ageMs: number, nowMs: number): void {
    this.#noteFailure(ageMs, nowMs);
    this.#failures += 1;
    if (this.#failures === FAILURES) {
      this.#openedAtMs = nowMs;
      this.#delayProbe(nowMs);
    } else if (this.#isProbe(startedAtMs)) {
      this.#probes += 1;
      this.#delayProbe(nowMs);
    }
  }

  /**
   * It answered 5xx with a Retry-After: overloaded, or down behind a proxy that names a time. The requests that were in
   * flight together are refused for the same reason, so they are one failure.
   * A probe always counts, or no other would follow it.
   */
  refused(startedAtMs: number, ageMs: number, nowMs: number): void {
    if (startedAtMs <= this.#refusedAtMs && !this.#isProbe(startedAtMs)) return;
    this.#refusedAtMs = nowMs;
    this.failed(startedAtMs, ageMs, nowMs);
  }

  /** The attempt ended without a request: it says nothing about the endpoint. */
  abandoned(startedAtMs: number, nowMs: number): void {
    if (this.#isProbe(startedAtMs)) this.probeAtMs = nowMs;
  }

  #isProbe(startedAtMs: number): boolean {
    return this.probeAtMs === Infinity && startedAtMs > this.#openedAtMs;
  }

  #delayProbe(nowMs: number): void {
    const longestMs = Math.min(MAX_PROBE_MS, FIRST_PROBE_MS * 2 ** this.#probes);
    this.probeAtMs = nowMs + longestMs * (MIN_SHARE + (1 - MIN_SHARE) * this.#options.random());
  }

  /**
   * After a restart, the oldest event that fails shows since when the endpoint may have been down. It does not prove it,
   * because one event can fail where others do not. Such others would be answered within the hour.
   */
  #noteFailure(ageMs: number, nowMs: number): void {
    const { disableAfterMs } = this.#options;
    this.#seenSinceMs = Math.min(this.#seenSinceMs, nowMs);
    const sinceMs = this.#hasAnswered ? nowMs : nowMs - ageMs;
    this.#failingSinceMs = Math.min(this.#failingSinceMs, sinceMs);
    const hasEvidence = nowMs - this.#seenSinceMs >= Math.min(disableAfterMs, OWN_EVIDENCE_MS);
    if (hasEvidence && nowMs - this.#failingSinceMs >= disableAfterMs) this.isOver = true;
  }
}
