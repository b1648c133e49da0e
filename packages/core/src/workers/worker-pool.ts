import pLimit, { type LimitFunction } from 'p-limit';

/** Workers hired beforehand. More are hired when they are first needed: a size may stand for "no limit". */
const READY = 1000;

/**
 * The workers: p-limit tasks, as many as the concurrency. A worker outlives the deliveries it handles, since
 * starting a task for each of them would cost several promises where a count is enough. So a delivery takes a
 * worker by {@link take} and gives it back by {@link give}, and p-limit bounds how many workers there are.
 */
export class WorkerPool {
  /** Workers that handle a delivery now. */
  active = 0;
  #size: number;
  #isClosed = false;
  readonly #limit: LimitFunction;
  /** One for each worker there is: calling it lets the worker's task end. */
  readonly #endings: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#limit = pLimit(size);
    this.#hire(Math.min(size, READY));
  }

  get size(): number {
    return this.#size;
  }

  get isFree(): boolean {
    return this.active < this.#size;
  }

  take(): void {
    this.active += 1;
    this.#hire(this.active);
  }

  give(): void {
    this.active -= 1;
    this.#retire();
  }

  /** Workers above the new size finish what they handle, and then leave. */
  resize(size: number): void {
    this.#size = size;
    this.#limit.concurrency = size;
    this.#hire(Math.min(size, READY));
    this.#retire();
  }

  /** Ends every worker, for good. Whoever holds one still may give it back. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#endings.splice(0)) end();
  }

  #hire(count: number): void {
    if (this.#isClosed) return;
    while (this.#endings.length < count) {
      const shift = new Promise<void>((end) => this.#endings.push(end));
      void this.#limit(() => shift);
    }
  }

  #retire(): void {
    while (this.#endings.length > Math.max(this.#size, this.active)) this.#endings.pop()?.();
  }
}
