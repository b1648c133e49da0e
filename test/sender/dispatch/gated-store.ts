import { memoryStore, type InboxStore, type KeyClaim, type KeyWant } from '@webhook-backpressure/core';

/** A store in memory whose claims return when the test says so. */
export class GatedStore {
  readonly store: InboxStore;
  /** Fails the next claim. */
  fails = false;
  /** The keys of each claim. */
  readonly claims: (readonly string[])[] = [];
  readonly #memory = memoryStore();
  #gate: Promise<void> | undefined;
  #open: () => void = () => undefined;

  constructor() {
    this.store = new Proxy(this.#memory, {
      get: (target, name) => {
        if (name === 'claimKeys') return this.#claimKeys;
        const call: unknown = Reflect.get(target, name);
        return typeof call === 'function' ? (call.bind(target) as unknown) : call;
      },
    });
  }

  /** Claims return after {@link open}. */
  close(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#gate = undefined;
    this.#open();
  }

  readonly #claimKeys = async (
    wants: readonly KeyWant[],
    options: Parameters<InboxStore['claimKeys']>[1],
  ): Promise<readonly KeyClaim[]> => {
    this.claims.push(wants.map(({ key }) => key));
    if (this.fails) {
      this.fails = false;
      await this.#gate;
      throw new Error('disk on fire');
    }
    const results = await this.#memory.claimKeys(wants, options);
    // The results describe the state before.
    await this.#gate;
    return results;
  };
}
