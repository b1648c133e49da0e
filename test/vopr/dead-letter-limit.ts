import type { Settlement } from '@webhook-backpressure/inbox';
import type { World } from './world.ts';

/** How long a full queue of dead letters may go unnoticed. Without faults, each process counts them every 5 s. */
const UNNOTICED_MS = 90_000;
const UNNOTICED_FAULTLESS_MS = 10_000;

/** How many dead letters are stored, and whether processes keep `maxDeadLetters`. */
export class DeadLetterLimit {
  readonly #world: World;
  readonly #most: number;
  readonly #unnoticedMs: number;
  #count = 0;
  #fullSinceMs = Infinity;

  /** @param processes - one alone never exceeds the limit without faults. */
  constructor(world: World, processes: number, most = Infinity) {
    this.#world = world;
    this.#most = most;
    if (!world.isFaultless) this.#unnoticedMs = UNNOTICED_MS;
    else this.#unnoticedMs = processes === 1 ? -1 : UNNOTICED_FAULTLESS_MS;
  }

  added(): void {
    this.#count += 1;
    if (this.#isFull) this.#fullSinceMs = Math.min(this.#fullSinceMs, this.#world.nowMs);
  }

  removed(): void {
    this.#count -= 1;
    if (!this.#isFull) this.#fullSinceMs = Infinity;
  }

  get #isFull(): boolean {
    return this.#count >= this.#most;
  }

  settled(one: Settlement): void {
    const { wrong, isFaultless, nowMs } = this.#world;
    if (one.as === 'dead') {
      if (nowMs - this.#fullSinceMs > this.#unnoticedMs)
        wrong.push(`${one.id} is a dead letter more than ${String(this.#most)}.`);
      this.added();
    } else if (
      one.as === 'failed' &&
      one.isRepeated === true &&
      isFaultless &&
      !this.#isFull &&
      this.#most < Infinity
    )
      wrong.push(
        `${one.id} is repeated, but only ${String(this.#count)} of ${String(this.#most)} are dead letters.`,
      );
  }
}
