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

/**
 * The workers: tasks of p-limit, whose concurrency bounds how many there are. A delivery holds a worker from start to
 * release.
 *
 * A worker is hired when a delivery first needs one more, and is kept. A task for each delivery would cost 0.4 µs in
 * promises, and on Cloudflare Workers some would never end: what follows a promise there runs only while the request
 * that created the promise is open, and the end of one delivery starts the next. So no worker awaits its deliveries.
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

  constructor(size: number) {
    this.#size = size;
    this.#limit = pLimit(size);
    this.#run = boundToThisContext((worker: Worker) => void this.#limit(worker.run));
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
    this.active += 1;
    return this.#idle.pop() ?? this.#hire();
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
  resize(size: number): void {
    this.#size = size;
    this.#limit.concurrency = size;
  }

  /** Dismisses idle workers now, and the others when they are freed. */
  close(): void {
    this.#isClosed = true;
    for (const worker of this.#idle.splice(0)) worker.dismiss();
  }

  #hire(): Worker {
    const worker = new Worker(this.#begun);
    this.#beginning += 1;
    this.#run(worker);
    return worker;
  }

  readonly #begun = (): void => {
    this.#beginning -= 1;
    if (this.#beginning > 0) return;
    for (const delivery of this.#granting.splice(0)) delivery.grant();
  };
}
