import type { FlightCap } from './learning-pace.ts';

/**
 * How many calls of an API may be in flight: half of those that were when it refused one, and one more for each round of
 * successes. Answer times say nothing here, unlike for `InFlightCap`: an API answers some calls in 50 ms and others in 5 s.
 */
export class RefusalCap implements FlightCap {
  /** An integer from 1 to the set one. */
  value: number;
  #max: number;
  /** Calls that were started before belong to the last refusal. */
  #refusedAtMs = -Infinity;
  /** Successes since the last change. */
  #steps = 0;

  constructor(max: number) {
    this.#max = max;
    this.value = max;
  }

  get mayGrow(): boolean {
    return this.value < this.#max;
  }

  setMax(max: number): void {
    this.value = this.mayGrow ? Math.min(max, this.value) : max;
    this.#max = max;
  }

  grow(): void {
    this.#steps += 1;
    if (this.#steps < this.value) return;
    this.#steps = 0;
    this.value += 1;
  }

  /** @param inFlight - the most that were in flight during the refused call. */
  refused(startedAtMs: number, inFlight: number, nowMs: number): void {
    if (startedAtMs <= this.#refusedAtMs) return;
    this.#refusedAtMs = nowMs;
    this.#steps = 0;
    this.value = Math.max(1, Math.floor(Math.min(this.value, inFlight) / 2));
  }

  startSlowly(): void {
    // Only refusals count.
  }

  note(): void {
    // Only refusals count.
  }
}
