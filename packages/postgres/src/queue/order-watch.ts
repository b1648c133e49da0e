import type { Server } from '../server/server.ts';

/** Reports that another process has changed the order of the queue, once for each change. */
export class OrderWatch {
  readonly #server: Server;
  readonly #isOrdered: boolean | undefined;
  #isReported = false;

  /** @param isOrdered - the order for which the store was opened; undefined: any. */
  constructor(server: Server, isOrdered: boolean | undefined) {
    this.#server = server;
    this.#isOrdered = isOrdered;
  }

  /** @param isOrdered - the order of the queue now. */
  look(isOrdered: boolean): void {
    const isOther = this.#isOrdered !== undefined && isOrdered !== this.#isOrdered;
    const isNews = isOther && !this.#isReported;
    this.#isReported = isOther;
    if (!isNews) return;
    this.#server.report({
      type: 'warning',
      code: 'WBP_POSTGRES_ORDER',
      message: `This process has the option ordered: ${String(!isOrdered)}, but another process has opened the schema ${this.#server.schema} with ordered: ${String(isOrdered)}, which applies to all. Use the same option everywhere.`,
    });
  }
}
