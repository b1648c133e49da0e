import { MAX_TURN_COST } from './turns.ts';

/** The mean handling time of a key is that of about so many of its last deliveries, and that of all keys of so many. */
const KEY_MEMORY = 16;
const MEMORY = 1000;
/**
 * The mean of so few is often off by a third by chance alone. Within this factor of the mean of all, a turn costs 1, so
 * that keys with similar handlers alternate.
 */
const ALIKE = 2;
/** So many idle keys are remembered. */
const MOST_IDLE = 1000;

/** The handled deliveries of one key. */
export class KeyLoad {
  /** Deliveries that are being handled. */
  active = 0;
  /** The mean handling time, in milliseconds, of so many deliveries. */
  meanMs = 0;
  samples = 0;
  /** That mean as a multiple of the mean of all keys; 1 while it is unknown or similar. */
  cost = 1;
  /** The sum that was charged for the deliveries that are being handled. */
  charged = 0;
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
      this.#forgetIdle();
    }
    load.active += 1;
    load.charged += load.cost;
    return load;
  }

  /** Returns the cost of the delivery minus what was charged for it. */
  end(load: KeyLoad, tookMs: number, teaches: boolean): number {
    const charged = load.charged / load.active;
    load.active -= 1;
    load.charged = load.active === 0 ? 0 : load.charged - charged;
    if (teaches) {
      load.samples = Math.min(KEY_MEMORY, load.samples + 1);
      load.meanMs += (tookMs - load.meanMs) / load.samples;
      this.#samples = Math.min(MEMORY, this.#samples + 1);
      this.#meanMs += (tookMs - this.#meanMs) / this.#samples;
      const cost = this.#costOf(load.meanMs);
      load.cost = cost < ALIKE && cost > 1 / ALIKE ? 1 : cost;
    }
    return this.#costOf(tookMs) - charged;
  }

  /** A handling time as a multiple of the mean of all, bounded so that no key starves or takes all turns. */
  #costOf(tookMs: number): number {
    if (this.#meanMs === 0) return 1;
    return Math.min(MAX_TURN_COST, Math.max(1 / MAX_TURN_COST, tookMs / this.#meanMs));
  }

  /** Keys that were handled once are forgotten first: invented keys push out each other, and not regular senders. */
  #forgetIdle(): void {
    for (let looked = 0; looked < 2 && this.#byKey.size > MOST_IDLE; looked += 1) {
      this.#sweep ??= this.#byKey.entries();
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = undefined;
        return;
      }
      const [key, { active, samples }] = next.value;
      if (active === 0 && (samples < 2 || this.#byKey.size > 2 * MOST_IDLE)) this.#byKey.delete(key);
    }
  }
}
