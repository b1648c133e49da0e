import { inBackground } from '@webhook-backpressure/base';
import type {
  Awaitable,
  ClaimedDelivery,
  ClaimRef,
  InboxStore,
  KeyClaim,
  OpenedStore,
  Put,
  PutResult,
  Settlement,
} from '@webhook-backpressure/inbox';
import { useDriver } from '../connection/drivers.ts';
import type { DriverName, Settings } from '../options.ts';
import { putIn, settleIn } from '../store/client-file.ts';
import { alreadyOpen, notOpen, type OpenOptions } from '../store/file-store.ts';
import { sendableBatch, type Entered } from './protocol.ts';
import { StoreThread, type Outcome } from './store-thread.ts';

/**
 * The first `open` blocks the event loop for at most this long, so that a wrong path or a foreign file throws when the
 * receiver starts, and not at the first delivery. After that, `open` returns a promise.
 */
const OPEN_WAIT_MS = 5000;

type Call = Exclude<keyof InboxStore, 'registry' | 'watch' | 'putIn' | 'settleIn'>;
type Args<Name extends Call> = Parameters<InboxStore[Name]>;

/** A store whose file is open in a thread: the event loop never waits for the disk. */
export class ThreadedStore implements InboxStore {
  readonly dueKeys: InboxStore['dueKeys'] = this.#passed('dueKeys');
  readonly nextDueMs: InboxStore['nextDueMs'] = this.#passed('nextDueMs');
  readonly hasten: InboxStore['hasten'] = this.#passed('hasten');
  readonly pause: InboxStore['pause'] = this.#passed('pause');
  readonly resume: InboxStore['resume'] = this.#passed('resume');
  readonly depthByKey: InboxStore['depthByKey'] = this.#passed('depthByKey');
  readonly stats: InboxStore['stats'] = this.#passed('stats');
  readonly listDeadLetters: InboxStore['listDeadLetters'] = this.#passed('listDeadLetters');
  readonly scanDeadLetters: InboxStore['scanDeadLetters'] = this.#passed('scanDeadLetters');
  readonly getDeadLetter: InboxStore['getDeadLetter'] = this.#passed('getDeadLetter');
  readonly countDeadLetters: InboxStore['countDeadLetters'] = this.#passed('countDeadLetters');
  readonly redrive: InboxStore['redrive'] = this.#passed('redrive');
  readonly purge: InboxStore['purge'] = this.#passed('purge');
  readonly noteRoom: InboxStore['noteRoom'] = this.#passed('noteRoom');
  readonly listPending: InboxStore['listPending'] = this.#passed('listPending');
  readonly getPending: InboxStore['getPending'] = this.#passed('getPending');
  readonly listCompleted: InboxStore['listCompleted'] = this.#passed('listCompleted');
  readonly getCompleted: InboxStore['getCompleted'] = this.#passed('getCompleted');
  readonly countCompleted: InboxStore['countCompleted'] = this.#passed('countCompleted');
  readonly replay: InboxStore['replay'] = this.#passed('replay');
  readonly dropCompleted: InboxStore['dropCompleted'] = this.#passed('dropCompleted');
  readonly forget: InboxStore['forget'] = this.#passed('forget');
  readonly forgetId: InboxStore['forgetId'] = this.#passed('forgetId');
  readonly #settings: Settings;
  readonly #driver: DriverName | undefined;
  /** The claims that have reached this process. A new thread takes them over from a thread that has ended. */
  readonly #held = new Map<string, ClaimRef>();
  #phase: 'closed' | 'opening' | 'open' = 'closed';
  #thread: StoreThread | undefined;
  #starting: Promise<StoreThread> | undefined;
  #owner: number | undefined;
  #openOptions: OpenOptions | undefined;
  #hasWaited = false;
  /** The latest time passed to a call. A call that starts a new thread may have none. */
  #nowMs = 0;

  constructor(settings: Settings, driver?: DriverName) {
    this.#settings = settings;
    this.#driver = driver ?? settings.driver;
    if (this.#driver !== undefined) useDriver(this.#driver);
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

  async put(batch: readonly Put[], options: Args<'put'>[1]): Promise<readonly PutResult[]> {
    this.#note(options);
    const transfer: ArrayBuffer[] = [];
    return await this.#ask('put', [sendableBatch(batch, transfer), options], transfer);
  }

  async claimKeys(...[wants, options]: Args<'claimKeys'>): Promise<readonly KeyClaim[]> {
    this.#note(options);
    const claims = await this.#ask<readonly KeyClaim[]>('claimKeys', [wants, options]);
    for (const { claimed } of claims) this.#hold(claimed);
    return claims;
  }

  async claim(...[count, options]: Args<'claim'>): Promise<readonly ClaimedDelivery[]> {
    this.#note(options);
    const claimed = await this.#ask<readonly ClaimedDelivery[]>('claim', [count, options]);
    this.#hold(claimed);
    return claimed;
  }

  async renew(...[claims, options]: Args<'renew'>): Promise<readonly boolean[]> {
    this.#note(options);
    const results = await this.#ask<readonly boolean[]>('renew', [claims, options]);
    for (const [at, claim] of claims.entries()) if (results[at] !== true) this.#held.delete(nameOf(claim));
    return results;
  }

  async settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    this.#note({ nowMs });
    const results = await this.#ask<readonly boolean[]>('settle', [settlements, nowMs]);
    for (const settlement of settlements) this.#held.delete(nameOf(settlement));
    return results;
  }

  /** In this thread, where the client is. */
  putIn(client: unknown, put: Put, options: Args<'put'>[1]): PutResult {
    this.#checkOpen();
    return putIn(client, this.#settings, put, options);
  }

  settleIn(client: unknown, settlement: Settlement, nowMs: number): boolean {
    return settleIn(client, this.#settings, this.#checkOpen(), settlement, nowMs);
  }

  async close(nowMs: number): Promise<void> {
    const asked = this.#ask('close', [nowMs]);
    this.#phase = 'closed';
    try {
      await asked;
    } finally {
      this.#held.clear();
      // The thread releases the file when it ends.
      await this.#thread?.waitForEnd();
    }
  }

  /** @returns the owner of the claims. */
  #checkOpen(): number {
    if (this.#phase !== 'open' || this.#owner === undefined) throw notOpen(this.#settings.path);
    return this.#owner;
  }

  #note({ nowMs }: { readonly nowMs: number }): void {
    this.#nowMs = Math.max(this.#nowMs, nowMs);
  }

  #hold(claims: readonly ClaimRef[]): void {
    for (const { key, id, attempt } of claims)
      this.#held.set(nameOf({ key, id, attempt }), { key, id, attempt });
  }

  #passed<Name extends Call>(call: Name): InboxStore[Name] {
    return ((...args: readonly unknown[]) => this.#ask(call, args)) as InboxStore[Name];
  }

  /** Sends the call synchronously while the thread runs, so that calls stay in order. */
  async #ask<T>(call: Call, args: readonly unknown[], transfer?: readonly ArrayBuffer[]): Promise<T> {
    const thread = this.#alive() ?? (await this.#running());
    return resultOf(await thread.call(call, args, transfer)) as T;
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
    const owner = this.#owner;
    const predecessor = owner === undefined ? undefined : { owner, held: [...this.#held.values()] };
    const outcome = await thread.call('open', [this.#nowMs, this.#openOptions, predecessor]);
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
      inBackground(thread.stop());
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

/** Unique, since the length of the key says where the id begins. */
function nameOf({ key, id, attempt }: ClaimRef): string {
  return `${String(attempt)}:${String(key.length)}:${key}${id}`;
}
