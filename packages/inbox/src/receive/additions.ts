import { BackpressureError, checkBoolean, isThenable } from '@webhook-backpressure/base';
import { deliveryOf } from '@webhook-backpressure/core/extend';
import {
  builtInSenders,
  createRecognition,
  idOf,
  type Recognition,
  resolveSenders,
} from '@webhook-backpressure/senders';
import type { InboxState } from '../capacity/inbox-state.ts';
import { rawDelivery } from '../delivery/inbox-delivery.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { StoredDelivery } from '../delivery/stored-delivery.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import { GroupCommit } from '../store-calls/group-commit.ts';
import { checkedPut } from '../store-calls/store-errors.ts';
import type { Put, PutResult, StoreLimits } from '../store/receiving-store.ts';
import {
  type AddedDelivery,
  addedHeaders,
  type AddOptions,
  type AddResult,
  plainDelivery,
} from './added-delivery.ts';
import { namesOf, notBeforeMsOf, verifierOf } from './delivery-fields.ts';

/** A put with these stores nothing, and still says whether the id is known. */
const NO_ROOM: StoreLimits = { capacity: 0, maxBytes: 0, maxDeadLetters: 0, maxDeadLetterBytes: 0 };

/** The options that name a delivery. A worker has no `verify`. */
type NamingOptions = {
  readonly [K in 'id' | 'keyGenerator' | 'verify' | 'senders' | 'notBefore']?:
    InboxOptions<never>[K] | undefined;
};

/** Stores deliveries that the application adds, alone or within one of its transactions. */
export class Additions {
  readonly #inbox: InboxState;
  readonly #options: NamingOptions;
  readonly #opened: Promise<void>;
  readonly #stored: (key: string) => void;
  readonly #expected: () => void;
  readonly #puts: GroupCommit<Put, PutResult>;
  readonly #lookups: GroupCommit<Put, PutResult>;
  #recognition: Recognition | undefined;

  /**
   * @param stored - called after a delivery was stored.
   * @param expected - called when a transaction that is open has stored one.
   */
  constructor(
    inbox: InboxState,
    options: NamingOptions,
    opened: Promise<void>,
    stored: (key: string) => void,
    expected: () => void,
  ) {
    this.#inbox = inbox;
    this.#options = options;
    this.#opened = opened;
    this.#stored = stored;
    this.#expected = expected;
    const putWithin = (limits: () => StoreLimits): GroupCommit<Put, PutResult> =>
      new GroupCommit((batch) => inbox.store.put(batch, { limits: limits(), nowMs: inbox.wall.trustedMs() }));
    this.#puts = putWithin(() => this.#limits);
    this.#lookups = putWithin(() => NO_ROOM);
  }

  get isStoring(): boolean {
    return this.#puts.isBusy;
  }

  /** Resolves when nothing is being stored. */
  async idle(): Promise<void> {
    await Promise.all([this.#puts.idle(), this.#lookups.idle()]);
  }

  async add(given: AddedDelivery, options: Omit<AddOptions, 'client'>): Promise<AddResult> {
    const { asReceived = false, dryRun = false } = options;
    checkBoolean('ERR_WBP_ADD', 'asReceived', asReceived);
    checkBoolean('ERR_WBP_ADD', 'dryRun', dryRun);
    const plain = plainDelivery(given, this.#inbox);
    const delivery = this.#timed(asReceived ? await this.#asReceived(plain, given) : plain);
    await this.#opened;
    this.#checkOpen();
    return dryRun ? this.#lookUp(delivery) : this.#store(delivery);
  }

  async #lookUp(delivery: StoredDelivery): Promise<AddResult> {
    const { receivingHealth } = this.#inbox;
    // The body is not compared, so it need not be encrypted.
    const put = putOf({ ...delivery, rawBody: new Uint8Array() });
    try {
      const result = checkedPut(await this.#lookups.add(put, 0));
      receivingHealth.worked();
      return resultOf(delivery.id, result === 'full' ? 'stored' : result);
    } catch (error) {
      receivingHealth.failed('put', error);
      throw storeError('The store did not say whether the delivery is known.', error);
    }
  }

  async #store(delivery: StoredDelivery): Promise<AddResult> {
    const { encryption, level, receivingHealth, report } = this.#inbox;
    const stored = await encryption.encrypt(delivery);
    if (level.isFull) throw this.#full();
    const { key, sender, id } = delivery;
    const counted = level.begin({ key, bytes: storedBytes(stored) });
    let result: PutResult | undefined;
    try {
      result = checkedPut(await this.#puts.add(putOf(stored), stored.rawBody.byteLength));
      receivingHealth.worked();
    } catch (error) {
      receivingHealth.failed('put', error);
      // The store works, and has certainly not stored it.
      if (error instanceof BackpressureError && error.code === 'ERR_WBP_STORE_VALUE') throw error;
      throw storeError(
        'The store did not confirm the delivery. Whether it is stored is unknown; add it again with the same id.',
        error,
      );
    } finally {
      level.end(counted, result === 'stored');
    }
    if (result === 'full') throw this.#full();
    report.totals[result] += 1;
    report.emit({ type: result, key, sender, id });
    if (result === 'stored') this.#stored(key);
    return resultOf(id, result);
  }

  /**
   * Within a transaction. Not an async function: where a client is synchronous, the call has done its work, or has thrown,
   * when it returns.
   */
  addIn(client: unknown, given: AddedDelivery): Promise<AddResult> {
    if (this.#inbox.store.putIn === undefined)
      throw new BackpressureError(
        'ERR_WBP_TRANSACTION',
        'The store of this inbox cannot store a delivery in a transaction of the application. Use postgresStore() or sqliteStore().',
      );
    const delivery = this.#timed(plainDelivery(given, this.#inbox));
    this.#checkOpen();
    const encrypted = this.#inbox.encryption.encrypt(delivery);
    if (isThenable(encrypted)) return encrypted.then((one) => this.#putIn(client, one));
    return Promise.resolve(this.#putIn(client, encrypted));
  }

  #putIn(client: unknown, delivery: StoredDelivery): AddResult | Promise<AddResult> {
    const { store, level, wall } = this.#inbox;
    if (level.isFull) throw this.#full();
    const options = { limits: this.#limits, nowMs: wall.trustedMs() };
    const result = store.putIn?.(client, putOf(delivery), options);
    return isThenable(result)
      ? result.then((one) => this.#putInto(delivery, one))
      : this.#putInto(delivery, result);
  }

  #putInto({ id }: StoredDelivery, result: unknown): AddResult {
    const known = checkedPut(result);
    if (known === 'full') throw this.#full();
    if (known === 'stored') this.#expected();
    return resultOf(id, known);
  }

  /** With the names of a received delivery. */
  async #asReceived(plain: StoredDelivery, given: AddedDelivery): Promise<StoredDelivery> {
    const { verify = false, ...options } = this.#options;
    // Those that are not stored are of use to a callback.
    const headers = addedHeaders(given.headers ?? {});
    this.#recognition ??= createRecognition([...resolveSenders(options.senders), ...builtInSenders]);
    const profile = this.#recognition.find(headers);
    const found = profile === undefined ? { id: idOf(undefined, headers) } : deliveryOf(profile, headers);
    const names = await namesOf({ ...options, verify }, rawDelivery({ ...plain, headers }), {
      id: found.id ?? given.id,
      key: verifierOf(verify).key ?? found.key ?? plain.key,
    });
    return { ...plain, ...names, sender: profile?.name ?? plain.sender };
  }

  #timed(delivery: StoredDelivery): StoredDelivery {
    const notBeforeMs = notBeforeMsOf(this.#options, delivery);
    return notBeforeMs === undefined ? delivery : { ...delivery, notBeforeMs };
  }

  get #limits(): StoreLimits {
    const { capacity, maxBytes, maxDeadLetters, maxDeadLetterBytes } = this.#inbox.settings;
    return { capacity, maxBytes, maxDeadLetters, maxDeadLetterBytes };
  }

  #checkOpen(): void {
    const { phase, receivingHealth } = this.#inbox;
    if (phase === 'opening') throw storeError('The store is not open yet. Await inbox.opened before.');
    if (phase !== 'open') throw storeError('The inbox is closed.');
    if (receivingHealth.isResting) throw storeError('The store has failed a moment ago.');
  }

  #full(): BackpressureError {
    const { depth, bytes } = this.#inbox.level;
    return new BackpressureError(
      'ERR_WBP_ADD_FULL',
      `The inbox has no room: it contains ${String(depth)} deliveries of ${String(bytes)} bytes.`,
    );
  }
}

function putOf(delivery: StoredDelivery): Put {
  return { delivery, isOverflow: false };
}

function resultOf(id: string, result: PutResult): AddResult {
  return { id, status: result === 'stored' ? 'accepted' : 'duplicate' };
}

function storeError(sentence: string, cause?: unknown): BackpressureError {
  return new BackpressureError('ERR_WBP_ADD_STORE', sentence, { cause });
}
