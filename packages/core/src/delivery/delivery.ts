import { BackpressureError, invalid, invalidResult } from '../errors.ts';
import { unknownName } from '../option-names.ts';
import type { SenderProfile } from '../senders/sender-profile.ts';

/** What the intake may know about a delivery. Everything is optional. */
export interface Delivery {
  /**
   * The share of the queue that the delivery counts against, and the queue it waits in. Any string; longer than
   * 256 characters it is hashed. Default `default`, the share of everybody without a key.
   */
  key?: string | undefined;
  /** The delivery id, the same at each attempt. Empty, or longer than 256 characters, it is ignored. */
  id?: string | undefined;
  /** `critical` may use the reserve above the high-water mark. Default `normal`. */
  priority?: 'normal' | 'critical' | undefined;
  /** How long its sender waits, in milliseconds, ≥ 0. The intake's `maxWaitMs` holds beside it. */
  maxWaitMs?: number | undefined;
  /**
   * How long its sender has been waiting already, in milliseconds, ≥ 0: for its body to arrive, or for the event loop.
   * Counts against `maxWaitMs`, its own and the intake's. Default 0.
   */
  ageMs?: number | undefined;
  /** The status of a refusal, whatever the intake's own `statusCode` says. */
  statusCode?: 429 | 503 | undefined;
  /** `false`: its sender never tries again, so it may use the reserve. Default true. */
  retries?: boolean | undefined;
  /** It is a handshake: a few of them at a time are let in as critical ones. Default false. */
  handshake?: boolean | undefined;
  /** What is known about its sender: how it takes Retry-After, and what makes it switch an endpoint off. */
  profile?: SenderProfile | undefined;
}

/** A delivery about which nothing is known. */
export const NOTHING_KNOWN: Delivery = {};

/** The key of everybody who has none. */
export const DEFAULT_KEY = 'default';

const MAX_KEY_CHARACTERS = 256;
const MAX_ID_CHARACTERS = 256;

/**
 * Throws unless every field is what {@link Delivery} says.
 *
 * @throws BackpressureError `ERR_WBP_DELIVERY`
 */
export function checkDelivery(delivery: Delivery): void {
  if (typeof (delivery as unknown) !== 'object' || (delivery as unknown) === null) {
    throw invalid('ERR_WBP_DELIVERY', 'delivery', 'an object', delivery);
  }
  const given: Partial<Record<keyof Delivery, unknown>> = delivery;
  const { key, id, priority, maxWaitMs, ageMs, statusCode, retries, handshake, profile } = given;
  if (key !== undefined && typeof key !== 'string') throw invalidField('key', 'a string', key);
  if (id !== undefined && typeof id !== 'string') throw invalidField('id', 'a string', id);
  if (priority !== undefined && priority !== 'normal' && priority !== 'critical') {
    throw invalidField('priority', '"normal" or "critical"', priority);
  }
  if (maxWaitMs !== undefined && !(typeof maxWaitMs === 'number' && maxWaitMs >= 0)) {
    throw invalidField('maxWaitMs', 'a number of milliseconds of at least 0', maxWaitMs);
  }
  if (ageMs !== undefined && !(typeof ageMs === 'number' && ageMs >= 0)) {
    throw invalidField('ageMs', 'a number of milliseconds of at least 0', ageMs);
  }
  if (statusCode !== undefined && statusCode !== 429 && statusCode !== 503) {
    throw invalidField('statusCode', '429 or 503', statusCode);
  }
  if (retries !== undefined && typeof retries !== 'boolean')
    throw invalidField('retries', 'a boolean', retries);
  if (handshake !== undefined && typeof handshake !== 'boolean') {
    throw invalidField('handshake', 'a boolean', handshake);
  }
  if (profile !== undefined && (typeof profile !== 'object' || profile === null)) {
    throw invalidField('profile', 'a sender profile', profile);
  }
}

/** In the order of the interface, all of them: one that is misspelled would be ignored without a word. */
const FIELDS: Record<keyof Delivery, true> = {
  key: true,
  id: true,
  priority: true,
  maxWaitMs: true,
  ageMs: true,
  statusCode: true,
  retries: true,
  handshake: true,
  profile: true,
};

/**
 * What the option `delivery` returned: an object of known fields, or nothing.
 *
 * @throws BackpressureError `ERR_WBP_DELIVERY`
 */
export function describedDelivery(given: unknown): Delivery {
  if (given === undefined || given === null) return NOTHING_KNOWN;
  if (typeof given !== 'object') {
    throw invalidResult('ERR_WBP_DELIVERY', 'delivery', 'an object', given);
  }
  for (const name in given) {
    if (!Object.hasOwn(FIELDS, name)) {
      throw new BackpressureError(
        'ERR_WBP_DELIVERY',
        unknownName('field', name, 'delivery', Object.keys(FIELDS)),
      );
    }
  }
  return given;
}

function invalidField(field: keyof Delivery, rule: string, given: unknown): Error {
  return invalid('ERR_WBP_DELIVERY', `delivery.${field}`, rule, given);
}

/** The key a delivery counts against: its own, shortened when a stranger made it long. */
export function keyOf(delivery: Delivery): string {
  const { key } = delivery;
  if (key === undefined) return DEFAULT_KEY;
  return key.length > MAX_KEY_CHARACTERS ? hashed(key) : key;
}

/** The id, or undefined when there is none that can be kept. An empty one would make one delivery of all that have it. */
export function keptIdOf(delivery: Delivery): string | undefined {
  const { id } = delivery;
  return id === undefined || id === '' || id.length > MAX_ID_CHARACTERS ? undefined : id;
}

/**
 * Two independent 32-bit FNV-1a hashes and the length. Whoever finds a collision shares a place in the queue with
 * another long key, and gains nothing else.
 */
function hashed(key: string): string {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let i = 0; i < key.length; i += 1) {
    const unit = key.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b);
  }
  const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');
  return `hash:${hex(a)}${hex(b)}:${String(key.length)}`;
}
