import type {
  Awaitable,
  ClaimedDelivery,
  ClaimRef,
  DueKeys,
  InboxStore,
  KeyClaim,
  KeyWant,
  OpenedStore,
  Put,
  PutResult,
  Settlement,
  StoreStats,
} from '@webhook-backpressure/inbox';
import type { DriverName } from '../drivers/choose.ts';
import type { Settings } from '../options.ts';
import { alreadyOpen, notOpen } from '../store/file-store.ts';
import { HeldClaims } from './held-claims.ts';
import type { Call, Entered } from './protocol.ts';
import { StoreThread, type Outcome } from './store-thread.ts';
import { ThreadedAdmin } from './threaded-admin.ts';
import { TransferredBodies } from './transferred-bodies.ts';

/**
 * The first `open` blocks the event loop for at most this long, so that a wrong path or a foreign file throws when the
 * receiver starts, and not at the first delivery. After that, `open` returns a promise.
 */
const OPEN_WAIT_MS = 5000;

type OpenOptions = Parameters<InboxStore['open']>[1];
type Options<Name extends Exclude<keyof InboxStore, 'registry'>, At extends 0 | 1> = Parameters<
  NonNullable<InboxStore[Name]>
>[At];

/** A store whose file is open in a thread: the event loop never waits for the disk. */
export class ThreadedStore extends ThreadedAdmin implements InboxStore {
  readonly #settings: Settings;
  readonly #driver: DriverName | undefined;
  readonly #held: HeldClaims = new HeldClaims();
  readonly #bodies: TransferredBodies = new TransferredBodies();
  #phase: 'closed' | 'opening' | 'open' = 'closed';
  #thread: StoreThread | undefined;
  #starting: Promise<StoreThread> | undefined;
  #owner: number | undefined;
  #openOptions: OpenOptions | undefined;
  #hasWaited = false;
  /** The latest time passed to a call. A call that starts a new thread may have none. */
  #nowMs = 0;

  constructor(settings: Settings, driver?: DriverName) {
    super();
    this.#settings = settings;
    this.#driver = driver;
  }

  open(nowMs: number, options?: OpenOptions): Awaitable<OpenedStore> {
    if (this.#phase !== 'closed') throw alreadyOpen(this.#settings.path);
    this.#phase = 'opening';
    this.#owner = undefined;
    this.#nowMs = nowMs;
    this.#openOptions = options;
    const thread = this.#newThread();
    this.#thread = thread;
    const isFirst = !this.#hasWaited;
    this.#hasWaited = true;
    const args = [nowMs, options];
    const outcome = isFirst ? thread.callBlocking('open', args, OPEN_WAIT_MS) : thread.call('open', args);
    if (!(outcome instanceof Promise)) return this.#entered(thread, outcome);
    return outcome.then((ended) => this.#entered(thread, ended));
  }

  async put(batch: readonly Put[], options: Options<'put', 1>): Promise<readonly PutResult[]> {
    this.#note(options);
    const thread = this.#alive() ?? (await this.#running());
    const { sent, transfer, onSent, onFailed } = this.#bodies.prepare(batch);
    const ended = thread.call('put', [sent, options], transfer);
    onSent();
    const outcome = await ended;
    if (outcome.error !== undefined) onFailed(outcome.bodies);
    return resultOf(outcome) as readonly PutResult[];
  }

  async claimKeys(wants: readonly KeyWant[], options: Options<'claimKeys', 1>): Promise<readonly KeyClaim[]> {
    this.#note(options);
    const claims = await this.ask<readonly KeyClaim[]>('claimKeys', [wants, options]);
    for (const { claimed } of claims) this.#held.add(claimed);
    return claims;
  }

  dueKeys(options: Options<'dueKeys', 0>): Promise<DueKeys> {
    return this.ask('dueKeys', [options]);
  }

  async claim(count: number, options: Options<'claim', 1>): Promise<readonly ClaimedDelivery[]> {
    this.#note(options);
    const claimed = await this.ask<readonly ClaimedDelivery[]>('claim', [count, options]);
    this.#held.add(claimed);
    return claimed;
  }

  async renew(claims: readonly ClaimRef[], options: Options<'renew', 1>): Promise<readonly boolean[]> {
    this.#note(options);
    const results = await this.ask<readonly boolean[]>('renew', [claims, options]);
    this.#held.remove(claims.filter((_, at) => results[at] !== true));
    return results;
  }

  async settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    this.#note({ nowMs });
    const results = await this.ask<readonly boolean[]>('settle', [settlements, nowMs]);
    this.#held.remove(settlements);
    return results;
  }

  nextDueMs(except?: ReadonlySet<string>): Promise<number | undefined> {
    return this.ask('nextDueMs', [except]);
  }

  pause(key: string | null): Promise<boolean> {
    return this.ask('pause', [key]);
  }

  resume(key: string | null): Promise<boolean> {
    return this.ask('resume', [key]);
  }

  hasten(options: Options<'hasten', 0>): Promise<number> {
    return this.ask('hasten', [options]);
  }

  depthByKey(): Promise<ReadonlyMap<string, number>> {
    return this.ask('depthByKey', []);
  }

  stats(): Promise<StoreStats> {
    return this.ask('stats', []);
  }

  async close(nowMs: number): Promise<void> {
    const asked = this.ask('close', [nowMs]);
    this.#phase = 'closed';
    try {
      await asked;
    } finally {
      this.#held.clear();
      // The thread releases the file when it ends.
      await this.#thread?.waitForEnd();
    }
  }

  #note({ nowMs }: { readonly nowMs: number }): void {
    this.#nowMs = Math.max(this.#nowMs, nowMs);
  }

  /** Sends the call synchronously while the thread runs, so that calls stay in order. */
  protected async ask<T>(call: Call, args: readonly unknown[]): Promise<T> {
    const thread = this.#alive() ?? (await this.#running());
    return resultOf(await thread.call(call, args)) as T;
  }

  #alive(): StoreThread | undefined {
    if (this.#phase === 'closed') throw notOpen(this.#settings.path);
    const thread = this.#thread;
    return thread === undefined || thread.hasEnded || this.#starting !== undefined ? undefined : thread;
  }

  /** The thread, or a new one that takes over the claims of a thread that has ended. */
  async #running(): Promise<StoreThread> {
    const alive = this.#alive();
    if (alive !== undefined) return alive;
    this.#starting ??= this.#restart().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #restart(): Promise<StoreThread> {
    const thread = this.#newThread();
    const predecessor = { owner: this.#owner, held: this.#held.all() };
    const outcome =
      this.#owner === undefined
        ? await thread.call('open', [this.#nowMs, this.#openOptions])
        : await thread.call('takeOver', [this.#nowMs, this.#openOptions, predecessor]);
    this.#entered(thread, outcome);
    this.#thread = thread;
    return thread;
  }

  #newThread(): StoreThread {
    return new StoreThread({ settings: this.#settings, driver: this.#driver });
  }

  #entered(thread: StoreThread, outcome: Outcome): OpenedStore {
    if (outcome.error !== undefined) {
      if (this.#phase === 'opening') this.#phase = 'closed';
      void thread.stop();
      throw outcome.error;
    }
    const { opened, owner } = outcome.result as Entered;
    this.#owner = owner;
    if (this.#phase === 'opening') this.#phase = 'open';
    return opened;
  }
}

function resultOf(outcome: Outcome): unknown {
  if (outcome.error !== undefined) throw outcome.error;
  return outcome.result;
}
