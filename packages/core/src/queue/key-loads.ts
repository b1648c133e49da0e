import { MAX_TURN_COST } from './turns.ts';

/** How many of the last deliveries the mean handling time of a key covers, and that of all keys. */
const KEY_MEMORY = 16;
const MEMORY = 1000;
/**
 * The mean of so few is often off by a third by chance alone. Within this factor of the mean of all, a turn costs 1, so
 * that keys with similar handlers alternate.
 */
const ALIKE = 2;
/** So many keys are remembered, and twice as many of those that were handled more than once. */
const MAX_KEYS = 1000;

/** The handled deliveries of one key. */
export class KeyLoad {
  /** Deliveries that are being handled. */
  active = 0;
  /** The mean handling time, in milliseconds, of so many deliveries. */
  meanMs = 0;
  samples = 0;
  /** That mean ÷ the mean of the last deliveries of all keys; 1 while it is unknown or similar. */
  cost = 1;
  /** The virtual time up to which its turns are paid for. */
  paidTo = 0;
}

/** How long the deliveries of each key are handled: the one estimate that turns and waits are computed from. */
export class KeyLoads {
  readonly #byKey = new Map<string, KeyLoad>();
  /** Looks for idle keys to forget, a few for each new key. */
  #sweep: IterableIterator<[string, KeyLoad]> | undefined;
  #meanMs = 0;
  #samples = 0;

  /** Undefined if nothing is known of the key. */
  of(key: string): KeyLoad | undefined {
    return this.#byKey.get(key);
  }

  active(key: string): number {
    return this.#byKey.get(key)?.active ?? 0;
  }

  start(key: string): KeyLoad {
    let load = this.#byKey.get(key);
    if (load === undefined) {
      load = new KeyLoad();
      this.#byKey.set(key, load);
    }
    load.active += 1;
    if (load.samples === 0) this.#forgetIdle();
    return load;
  }

  end(load: KeyLoad, tookMs: number, teaches: boolean): void {
    load.active -= 1;
    if (!teaches) return;
    load.samples = Math.min(KEY_MEMORY, load.samples + 1);
    load.meanMs += (tookMs - load.meanMs) / load.samples;
    this.#samples = Math.min(MEMORY, this.#samples + 1);
    this.#meanMs += (tookMs - this.#meanMs) / this.#samples;
    const cost = this.#meanMs === 0 ? 1 : load.meanMs / this.#meanMs;
    const isAlike = cost < ALIKE && cost > 1 / ALIKE;
    // Bounded, so that no key starves or takes all turns.
    load.cost = isAlike ? 1 : Math.min(MAX_TURN_COST, Math.max(1 / MAX_TURN_COST, cost));
  }

  /** Keys that were handled once are forgotten first: invented keys push out each other, and not regular senders. */
  #forgetIdle(): void {
    for (let looked = 0; looked < 2 && this.#byKey.size > MAX_KEYS; looked += 1) {
      this.#sweep ??= this.#byKey.entries();
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = undefined;
        return;
      }
      const [key, { active, samples }] = next.value;
      if (active === 0 && (samples < 2 || this.#byKey.size > 2 * MAX_KEYS)) this.#byKey.delete(key);
    }
  }
}
