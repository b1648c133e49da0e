import { BackpressureError, checkNames, invalid, isRecord, show } from '@webhook-backpressure/base';
import { DEFAULT_KEY } from '@webhook-backpressure/core/extend';
import type { InboxState } from '../capacity/inbox-state.ts';
import { boundedContext, type Json } from '../delivery/json.ts';
import { NO_REQUEST } from '../delivery/request-facts.ts';
import type { StoredDelivery } from '../delivery/stored-delivery.ts';
import { randomUuid, utf8 } from '../encryption/web-crypto.ts';
import { withoutRedacted } from '../options/inbox-settings.ts';

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

/** Options of `add`. */
export interface AddOptions {
  /**
   * Stores the delivery within the transaction of the application: as of `complete` in `ProcessContext`. Default none. Not
   * together with the options below.
   */
  client?: unknown;
  /**
   * Whether the delivery gets the id, the key and the sender that it would have if it was received: by its headers and
   * `id`, `keyGenerator`, `verify` and `senders` of the inbox, which see no request beside headers and body. The given
   * names apply where these have none. With it, an event that the sender lists and has delivered is a duplicate.
   * Default false.
   */
  asReceived?: boolean | undefined;
  /** Whether nothing is stored, and the result says what would be, however full the inbox is. Default false. */
  dryRun?: boolean | undefined;
}

/** The result of `add`. */
export interface AddResult {
  /** The id, given or generated. */
  readonly id: string;
  /** `duplicate`: the id was known. With BullMQ, a dry run says `accepted` for every id. */
  readonly status: 'accepted' | 'duplicate';
}

const NAMES = ['id', 'key', 'sender', 'headers', 'body', 'context'];
const MAX_CHARACTERS = 256;

/** @throws BackpressureError `ERR_WBP_ADD` for an invalid delivery. */
export function plainDelivery(
  given: AddedDelivery,
  { settings, fixtures, wall }: Pick<InboxState, 'settings' | 'fixtures' | 'wall'>,
): StoredDelivery {
  checkNames(given, 'add()', NAMES, 'ERR_WBP_ADD');
  // Read once: a getter might return something else the next time.
  const { id, sender, key = sender ?? DEFAULT_KEY, headers = {}, body, context = null } = given;
  if (id !== undefined) checkName('id', id);
  if (sender !== undefined) checkName('sender', sender);
  checkName('key', key);
  return {
    id: id ?? randomUuid(),
    key,
    isIdGenerated: id === undefined,
    sender,
    request: NO_REQUEST,
    context: boundedContext(context, 'ERR_WBP_ADD', 'context must be'),
    headers: withoutRedacted(addedHeaders(headers), fixtures.redacts),
    rawBody: bodyOf(body, settings.maxBodyBytes),
    receivedAtMs: wall.rawMs(),
    sealedBy: undefined,
    fingerprint: undefined,
  };
}

function checkName(name: 'id' | 'key' | 'sender', value: unknown): void {
  const isRight = typeof value === 'string' && value.length >= 1 && value.length <= MAX_CHARACTERS;
  // Operator calls read the id `all` as every delivery.
  if (isRight && !(name === 'id' && value === 'all')) return;
  const rule = `a string of 1 to 256 characters${name === 'id' ? ', and not "all"' : ''}`;
  throw invalid('ERR_WBP_ADD', name, rule, value);
}

/** @throws BackpressureError `ERR_WBP_ADD`, without the value of a header: it may be a token. */
export function addedHeaders(headers: unknown): Record<string, string> {
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
