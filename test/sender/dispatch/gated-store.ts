import {
  type InboxStore,
  type KeyClaim,
  type KeyWant,
  memoryStore,
  type StoredDelivery,
} from '@webhook-backpressure/inbox';

/** A store in memory whose claims return when the test says so. */
export class GatedStore {
  readonly store: InboxStore;
  /** Fails the next claim. */
  fails = false;
  /** The damaged fields of stored events, by id. */
  readonly damaged = new Map<string, Partial<StoredDelivery>>();
  /** Whether results are stored: `never` returns, or another process has `taken` the claims. */
  settles: 'yes' | 'never' | 'taken' = 'yes';
  /** Claims return nothing, although something is due: another process holds it. */
  isBlocked = false;
  /** The keys of each claim. */
  readonly claims: (readonly string[])[] = [];
  readonly #memory = memoryStore();
  #gate: Promise<void> | undefined;
  #open: () => void = () => undefined;

  constructor() {
    this.store = new Proxy(this.#memory, {
      get: (target, name) => {
        if (name === 'claimKeys') return this.#claimKeys;
        if (name === 'settle' && this.settles !== 'yes') return this.#settle;
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
    if (this.isBlocked)
      return wants.map(({ key }) => ({ key, claimed: [], nextDueMs: options.nowMs - 1000 }));
    const results = await this.#memory.claimKeys(wants, options);
    // The results describe the state before.
    await this.#gate;
    return results.map((result) => ({
      ...result,
      claimed: result.claimed.map((one) => ({ ...one, ...this.damaged.get(one.id) })),
    }));
  };

  readonly #settle = (settlements: readonly unknown[]): Promise<readonly boolean[]> =>
    this.settles === 'taken'
      ? Promise.resolve(settlements.map(() => false))
      : new Promise<never>(() => undefined);
}
