import pLimit, { type LimitFunction } from 'p-limit';
import { boundToThisContext } from '../base/async-context.ts';

/** A delivery that gets its permit from its worker. */
interface Queued {
  grant(): void;
}

/** A worker: a task of p-limit that handles one delivery after another until it is dismissed. */
export class Worker {
  #isDismissed = false;
  #end: (() => void) | undefined;
  readonly #begun: () => void;

  constructor(begun: () => void) {
    this.#begun = begun;
  }

  /** The task. */
  readonly run = (): Promise<void> | undefined => {
    this.#begun();
    if (this.#isDismissed) return undefined;
    return new Promise((end) => {
      this.#end = end;
    });
  };

  /** Ends the task, now or before it begins. */
  dismiss(): void {
    this.#isDismissed = true;
    this.#end?.();
  }
}

/** Workers hired beforehand. More are hired when they are first needed: a size may mean "no limit". */
const READY = 1000;

/**
 * The workers: tasks of p-limit, whose concurrency bounds how many there are. A delivery holds a worker from start to
 * release.
 *
 * Workers are hired beforehand and outlive their deliveries. A task for each delivery costs 0.4 µs, and never ends on
 * Cloudflare Workers: what follows a promise there runs only while the request that created the promise is open, but the
 * end of one request starts the delivery of another.
 */
export class WorkerPool {
  /** Workers that handle a delivery. */
  active = 0;
  #size: number;
  #isClosed = false;
  /** Workers whose task has not begun: p-limit begins it after the present turn of the event loop. */
  #beginning = 0;
  readonly #limit: LimitFunction;
  readonly #idle: Worker[] = [];
  /** Deliveries that get their permits when the tasks have begun, in order. */
  readonly #granting: Queued[] = [];
  /** In the async context of the intake: a worker must not keep the stores of the request that first needed it. */
  readonly #run: (worker: Worker) => void;

  /** @param most - the largest size that a learned limit may reach. */
  constructor(size: number, most: number = size) {
    this.#size = size;
    this.#limit = pLimit(most);
    this.#run = boundToThisContext((worker: Worker) => void this.#limit(worker.run));
    this.#hire(Math.min(most, READY));
  }

  /** The largest size that a learned limit may reach. */
  get most(): number {
    return this.#limit.concurrency;
  }

  /** How many deliveries may be handled concurrently. */
  get size(): number {
    return this.#size;
  }

  get isFree(): boolean {
    return this.active < this.#size;
  }

  /** Assigns a worker, of which one must be free. */
  take(): Worker {
    this.#hire(this.active + 1);
    this.active += 1;
    return this.#idle.pop() as Worker;
  }

  /** Gives a queued delivery that has a worker its permit: now, or as soon as the tasks of all workers run. */
  grant(delivery: Queued): void {
    if (this.#beginning === 0) delivery.grant();
    else this.#granting.push(delivery);
  }

  /** Frees a worker. */
  give(worker: Worker): void {
    this.active -= 1;
    if (this.#isClosed) worker.dismiss();
    else this.#idle.push(worker);
  }

  /** Workers above a lower size finish what they handle and then rest. */
  resize(size: number, most: number = size): void {
    this.#size = size;
    if (most === this.#limit.concurrency) return;
    this.#limit.concurrency = most;
    if (!this.#isClosed) this.#hire(Math.min(most, READY));
  }

  /** Dismisses idle workers now, and the others when they are freed. */
  close(): void {
    this.#isClosed = true;
    for (const worker of this.#idle.splice(0)) worker.dismiss();
  }

  /** Hires until there are so many workers. */
  #hire(count: number): void {
    while (this.active + this.#idle.length < count) {
      const worker = new Worker(this.#begun);
      this.#beginning += 1;
      this.#idle.push(worker);
      this.#run(worker);
    }
  }

  readonly #begun = (): void => {
    this.#beginning -= 1;
    if (this.#beginning > 0) return;
    for (const delivery of this.#granting.splice(0)) delivery.grant();
  };
}
