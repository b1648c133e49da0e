import type { DeliveryRef } from '@webhook-backpressure/inbox';

/** The calls of handlers that have not ended, by worker and delivery. */
export class HandlerCalls {
  readonly #calls = new Map<string, object>();

  /** @returns a function to call when the handler has ended. */
  started(worker: string, ref: DeliveryRef): () => void {
    const name = nameOf(worker, ref);
    const call = {};
    this.#calls.set(name, call);
    return () => {
      if (this.#calls.get(name) === call) this.#calls.delete(name);
    };
  }

  /** The latest call, if it has not ended. */
  of(worker: string, ref: DeliveryRef): object | undefined {
    return this.#calls.get(nameOf(worker, ref));
  }

  /** The worker has ended. Returns the names of its calls. */
  take(worker: string): string[] {
    const names = [...this.#calls.keys()].filter((name) => name.startsWith(`["${worker}",`));
    for (const name of names) this.#calls.delete(name);
    return names;
  }
}

function nameOf(worker: string, { key, id }: DeliveryRef): string {
  return JSON.stringify([worker, key, id]);
}
