/** Something that ends, as a monitor does. */
interface Ending {
  end(nowMs: number): void;
}

/** A monitor that is created when someone looks, because its figures cost something. */
export class LateMonitor<M extends Ending> {
  readonly #holder: { monitor: M | null };
  readonly #create: (nowMs: number) => M;
  #hasEnded = false;

  /** @param holder - what reports events to the monitor. */
  constructor(holder: { monitor: M | null }, create: (nowMs: number) => M) {
    this.#holder = holder;
    this.#create = create;
  }

  /** Begins to measure the windows and to judge the alarms, unless that has begun. */
  look(nowMs: number): M {
    const { monitor } = this.#holder;
    if (monitor !== null) return monitor;
    const created = (this.#holder.monitor = this.#create(nowMs));
    if (this.#hasEnded) created.end(nowMs);
    return created;
  }

  /** Ends all alarms permanently. */
  end(nowMs: number): void {
    this.#hasEnded = true;
    this.#holder.monitor?.end(nowMs);
  }
}
