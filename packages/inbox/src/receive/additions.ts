import {
  BackpressureError,
  checkNames,
  invalid,
  isRecord,
  isThenable,
  show,
} from '@webhook-backpressure/base';
import { DEFAULT_KEY } from '@webhook-backpressure/core/extend';
import type { InboxState } from '../capacity/inbox-state.ts';
import { frozenJson, NotJsonError, type Json } from '../delivery/json.ts';
import { NO_REQUEST } from '../delivery/request-facts.ts';
import { storedBytes } from '../delivery/stored-bytes.ts';
import type { StoredDelivery } from '../delivery/stored-delivery.ts';
import { randomUuid, utf8 } from '../encryption/web-crypto.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import { withoutRedacted } from '../options/inbox-settings.ts';
import { GroupCommit } from '../store-calls/group-commit.ts';
import type { Put, PutResult, StoreLimits } from '../store/receiving-store.ts';
import { notBeforeMsOf } from './delivery-fields.ts';

/** A delivery that the application itself puts into the inbox. */
export interface AddedDelivery {
  /** The delivery id: 1 to 256 characters, except `all`. The same id of a key is stored once. Default: a generated id. */
  id?: string | undefined;
  /** The key whose share of the inbox it uses: 1 to 256 characters. Default: `sender`, else `default`. */
  key?: string | undefined;
  /** The name of the sender, as `process` sees it: 1 to 256 characters. Default none. */
  sender?: string | undefined;
  /** Headers, as `process` sees them, with names in any case. Those that `redact` names are not stored. Default none. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The body, up to `maxBodyBytes`. A string is stored as UTF-8. */
  body: string | Uint8Array;
  /** What `process` gets as `context`: a JSON value of at most 16,384 characters. Default null. */
  context?: Json | undefined;
}

/** The result of `add`. */
export interface AddResult {
  /** The id, given or generated. */
  readonly id: string;
  /** `duplicate`: the id was known. */
  readonly status: 'accepted' | 'duplicate';
}

const NAMES = ['id', 'key', 'sender', 'headers', 'body', 'context'];
const MAX_CHARACTERS = 256;
const MAX_CONTEXT_CHARACTERS = 16 * 1024;

/** Stores deliveries that the application adds, alone or within one of its transactions. */
export class Additions {
  readonly #inbox: InboxState;
  readonly #options: Pick<InboxOptions<never>, 'notBefore'>;
  readonly #opened: Promise<void>;
  readonly #stored: () => void;
  readonly #expected: () => void;
  readonly #puts: GroupCommit<Put, PutResult>;

  /**
   * @param stored - called after a delivery was stored.
   * @param expected - called when a transaction that is open has stored one.
   */
  constructor(
    inbox: InboxState,
    options: Pick<InboxOptions<never>, 'notBefore'>,
    opened: Promise<void>,
    stored: () => void,
    expected: () => void,
  ) {
    this.#inbox = inbox;
    this.#options = options;
    this.#opened = opened;
    this.#stored = stored;
    this.#expected = expected;
    this.#puts = new GroupCommit((batch) =>
      inbox.store.put(batch, { limits: this.#limits, nowMs: inbox.wall.trustedMs() }),
    );
  }

  get isStoring(): boolean {
    return this.#puts.isBusy;
  }

  /** Resolves when nothing is being stored. */
  idle(): Promise<void> {
    return this.#puts.idle();
  }

  async add(given: AddedDelivery): Promise<AddResult> {
    const { encryption, level, receivingHealth, report } = this.#inbox;
    const delivery = this.#delivery(given);
    await this.#opened;
    this.#checkOpen();
    const stored = await encryption.encrypt(delivery);
    if (level.isFull) throw this.#full();
    const { key, sender, id } = delivery;
    const counted = level.begin({ key, bytes: storedBytes(stored) });
    let result: PutResult | undefined;
    try {
      result = checked(await this.#puts.add(putOf(stored), stored.rawBody.byteLength));
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
    if (result === 'stored') this.#stored();
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
    const delivery = this.#delivery(given);
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
    const known = checked(result);
    if (known === 'full') throw this.#full();
    if (known === 'stored') this.#expected();
    return resultOf(id, known);
  }

  #delivery(given: AddedDelivery): StoredDelivery {
    const { settings, fixtures, wall } = this.#inbox;
    checkNames(given, 'add()', NAMES, 'ERR_WBP_ADD');
    // Read once: a getter might return something else the next time.
    const { id, sender, key = sender ?? DEFAULT_KEY, headers = {}, body, context = null } = given;
    if (id !== undefined) checkName('id', id);
    if (sender !== undefined) checkName('sender', sender);
    checkName('key', key);
    const plain: StoredDelivery = {
      id: id ?? randomUuid(),
      key,
      isIdGenerated: id === undefined,
      sender,
      request: NO_REQUEST,
      context: contextOf(context),
      headers: withoutRedacted(headersOf(headers), fixtures.redacts),
      rawBody: bodyOf(body, settings.maxBodyBytes),
      receivedAtMs: wall.rawMs(),
      sealedBy: undefined,
      fingerprint: undefined,
    };
    const notBeforeMs = notBeforeMsOf(this.#options, plain);
    return notBeforeMs === undefined ? plain : { ...plain, notBeforeMs };
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

function checked(result: unknown): PutResult {
  if (result === 'stored' || result === 'duplicate' || result === 'conflict' || result === 'full')
    return result;
  throw new Error(`The store returned ${show(result)} for a put.`);
}

function storeError(sentence: string, cause?: unknown): BackpressureError {
  return new BackpressureError('ERR_WBP_ADD_STORE', sentence, { cause });
}

function checkName(name: 'id' | 'key' | 'sender', value: unknown): void {
  const isRight = typeof value === 'string' && value.length >= 1 && value.length <= MAX_CHARACTERS;
  // Operator calls read the id `all` as every delivery.
  if (isRight && !(name === 'id' && value === 'all')) return;
  const rule = `a string of 1 to 256 characters${name === 'id' ? ', and not "all"' : ''}`;
  throw invalid('ERR_WBP_ADD', name, rule, value);
}

/** @throws BackpressureError `ERR_WBP_ADD`, without the value of a header: it may be a token. */
function headersOf(headers: unknown): Record<string, string> {
  if (!isRecord(headers)) throw invalid('ERR_WBP_ADD', 'headers', 'an object', headers);
  const entries: [name: string, value: string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    if (typeof value !== 'string')
      throw new BackpressureError('ERR_WBP_ADD', `The header ${show(name)} must be a string.`);
    entries.push([name.toLowerCase(), value]);
  }
  return Object.fromEntries(entries);
}

function contextOf(given: unknown): Json {
  let context: Json;
  try {
    context = frozenJson(given);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new BackpressureError(
      'ERR_WBP_ADD',
      `context must be a JSON value, but ${error.message.replace(/^\./, '')}.`,
    );
  }
  const size = JSON.stringify(context).length;
  if (size <= MAX_CONTEXT_CHARACTERS) return context;
  throw invalid('ERR_WBP_ADD', 'context', 'at most 16,384 characters of JSON', size);
}

/** A copy, since the application may change its bytes before they are stored. */
function bodyOf(body: unknown, maxBytes: number): Uint8Array {
  const bytes =
    typeof body === 'string' ? utf8(body) : body instanceof Uint8Array ? new Uint8Array(body) : undefined;
  if (bytes === undefined) throw invalid('ERR_WBP_ADD', 'body', 'a string or a Uint8Array', body);
  if (bytes.byteLength <= maxBytes) return bytes;
  throw new BackpressureError(
    'ERR_WBP_ADD',
    `body must take at most ${String(maxBytes)} bytes (maxBodyBytes), but took ${String(bytes.byteLength)}.`,
  );
}
