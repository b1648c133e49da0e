import { invalidResult, isThenable } from '@webhook-backpressure/base';
import { randomUuid, subtle, toHex, utf8 } from '../encryption/web-crypto.ts';
import { DEFAULT_KEY } from '@webhook-backpressure/core/extend';
import type { Delivery } from '@webhook-backpressure/core';
import { inboxDelivery, type RawDelivery } from '../delivery/inbox-delivery.ts';
import { boundedContext, type Json } from '../delivery/json.ts';
import type { StoredDelivery } from '../delivery/stored-delivery.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { Verifier } from '../verifiers/verifier.ts';

const MAX_CHARACTERS = 256;
/** Operator calls read it as every delivery: with this id, purging one dead letter would purge all. */
const RESERVED_ID = 'all';

/** The latest time of an earliest start. */
const MAX_AHEAD_MS = 31_536_000_000;

/** The names of a delivery in the store. */
export interface Names {
  readonly id: string;
  readonly key: string;
  /** Whether the id was generated, because neither an option nor the headers have one. */
  readonly isIdGenerated: boolean;
}

/** The id and the key of a delivery: from the options, else the id from the verifier, else from the headers. */
export async function namesOf(
  options: Pick<InboxOptions<never>, 'id' | 'keyGenerator' | 'verify'>,
  raw: RawDelivery,
  delivery: Delivery,
): Promise<Names> {
  const known =
    filledId(options.id?.(raw)) ?? filledId(verifierOf(options.verify).id?.(raw)) ?? filledId(delivery.id);
  const isIdGenerated = known === undefined;
  const id = isIdGenerated ? randomUuid() : await boundedName(known, true);
  const key = returnedName('keyGenerator', options.keyGenerator?.(raw)) ?? delivery.key ?? DEFAULT_KEY;
  return { id, key: await boundedName(key, false), isIdGenerated };
}

/** The parts of a {@link Verifier}, which any other function lacks. */
export function verifierOf(verify: InboxOptions['verify']): Partial<Verifier> {
  const { id, key } = verify === false ? {} : (verify as { readonly id?: unknown; readonly key?: unknown });
  return {
    ...(typeof id === 'function' && { id: id as Verifier['id'] & object }),
    ...(typeof key === 'string' && { key }),
  };
}

/** An empty id would make all deliveries that have it one delivery. */
function filledId(name: unknown): string | undefined {
  const id = returnedName('id', name);
  return id === '' ? undefined : id;
}

/**
 * The value that the option `context` returns for a request, or null.
 *
 * @throws BackpressureError `ERR_WBP_CONTEXT` when it is not JSON, or too long.
 */
export function contextOf(options: Pick<InboxOptions<never>, 'context'>, source: unknown): Json {
  const given: unknown = options.context?.(source as never);
  if (given === undefined) return null;
  if (isThenable(given)) throw invalidResult('ERR_WBP_CONTEXT', 'context', 'a JSON value', given);
  return boundedContext(given, 'ERR_WBP_CONTEXT', 'context() must return');
}

/**
 * The time that the option `notBefore` returns for a delivery, in ms since 1970; undefined for none.
 *
 * @throws BackpressureError `ERR_WBP_CALLBACK` when it is no time, or more than a year ahead.
 */
export function notBeforeMsOf(
  { notBefore }: Pick<InboxOptions<never>, 'notBefore'>,
  delivery: StoredDelivery,
): number | undefined {
  const given: unknown = notBefore?.(inboxDelivery(delivery));
  if (given === undefined || given === null) return undefined;
  const atMs = given instanceof Date ? given.getTime() : given;
  const { receivedAtMs } = delivery;
  if (typeof atMs !== 'number' || !(atMs <= receivedAtMs + MAX_AHEAD_MS))
    throw invalidResult('ERR_WBP_CALLBACK', 'notBefore', 'a time at most a year ahead, or undefined', given);
  return atMs > receivedAtMs ? atMs : undefined;
}

/**
 * Checks what an option returned. Any other value than a string, a promise for instance, would be the same text for
 * every delivery, and all but the first would be duplicates.
 *
 * @throws BackpressureError `ERR_WBP_CALLBACK`
 */
function returnedName(option: 'id' | 'keyGenerator', name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name === 'string') return name;
  throw invalidResult('ERR_WBP_CALLBACK', option, 'a string or undefined', name);
}

/**
 * The id or key itself, or its SHA-256 when it is long. If it were truncated, two names could become equal, and the
 * second delivery a duplicate of the first.
 */
export async function boundedName(name: string, isId: boolean): Promise<string> {
  return name.length > MAX_CHARACTERS || (isId && name === RESERVED_ID) ? hashed(name) : name;
}

async function hashed(name: string): Promise<string> {
  const isText = !LONE_SURROGATE.test(name);
  const digest = new Uint8Array(await subtle().digest('SHA-256', isText ? utf8(name) : codeUnits(name)));
  return `sha256${isText ? '' : '-utf16'}:${toHex(digest)}`;
}

/** UTF-8 encodes every lone surrogate as the same replacement: names that differ in them would become equal. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function codeUnits(name: string): Uint8Array {
  const bytes = new Uint8Array(2 * name.length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < name.length; at += 1) view.setUint16(2 * at, name.charCodeAt(at));
  return bytes;
}
