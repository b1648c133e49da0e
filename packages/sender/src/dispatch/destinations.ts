import { Destination, type Learned } from './destination.ts';

/** How many endpoints without events are remembered: their rate may be lowered, and their bucket empty. */
const MOST_IDLE = 10_000;

/** The endpoints that have events, and the learned limits of those that had some. */
export class Destinations {
  readonly #active = new Map<string, Destination>();
  /** The one that has been idle for longest is the first. */
  readonly #idle = new Map<string, Learned>();
  readonly #forgotten: (id: string) => void;

  /** @param forgotten - called when nothing of an endpoint is left in memory. */
  constructor(forgotten: (id: string) => void) {
    this.#forgotten = forgotten;
  }

  get size(): number {
    return this.#active.size;
  }

  values(): IterableIterator<Destination> {
    return this.#active.values();
  }

  find(id: string): Destination | undefined {
    return this.#active.get(id);
  }

  /** The endpoint of this id, active or not, to look at it. */
  peek(id: string): Destination | undefined {
    const active = this.#active.get(id);
    const learned = this.#idle.get(id);
    if (active !== undefined || learned === undefined) return active;
    const idle = new Destination(id);
    idle.learned = learned;
    return idle;
  }

  /** The endpoint of this id, which becomes active. */
  at(id: string): Destination {
    const known = this.#active.get(id);
    if (known !== undefined) return known;
    const destination = new Destination(id);
    const learned = this.#idle.get(id);
    if (learned !== undefined) {
      destination.learned = learned;
      this.#idle.delete(id);
    }
    this.#active.set(id, destination);
    return destination;
  }

  /** The endpoint has neither events nor requests. */
  retire({ id, learned }: Destination): void {
    this.#active.delete(id);
    if (learned === undefined) {
      this.#forgotten(id);
      return;
    }
    this.#idle.set(id, learned);
    if (this.#idle.size <= MOST_IDLE) return;
    for (const oldest of this.#idle.keys()) {
      this.#idle.delete(oldest);
      this.#forgotten(oldest);
      return;
    }
  }
}
