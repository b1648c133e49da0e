import { BackpressureError, invalid, invalidResult, unknownName } from '@webhook-backpressure/base';
import type { SenderProfile } from '@webhook-backpressure/senders';

/** What is known about a delivery. All fields are optional. */
export interface Delivery {
  /**
   * The share of the queue that the delivery counts against. Deliveries of one key are handled in order of arrival, and
   * keys in turn. Any string; one above 256 characters is hashed. Default `default`.
   */
  key?: string | undefined;
  /** The delivery id, the same at each attempt. Ignored if it is empty or longer than 256 characters. */
  id?: string | undefined;
  /** `critical` may use the reserve above the high-water mark. Default `normal`. */
  priority?: 'normal' | 'critical' | undefined;
  /** How long it may be queued, in milliseconds, ≥ 0. The intake's `maxWaitMs` applies as well. */
  maxWaitMs?: number | undefined;
  /**
   * How long its sender has been waiting already, in milliseconds, ≥ 0, such as for the body to arrive. Counts against
   * `maxWaitMs` of the delivery. Default 0.
   */
  ageMs?: number | undefined;
  /** The status of a refusal. Takes precedence over the intake's `statusCode`. */
  statusCode?: 429 | 503 | undefined;
  /**
   * `false`: its sender never retries. So it may use the reserve above the high-water mark, and without a place there it
   * displaces the youngest delivery of the key that fills the queue. Default true.
   */
  retries?: boolean | undefined;
  /** Whether it is a handshake, which may use the reserve above the high-water mark. Default false. */
  handshake?: boolean | undefined;
  /** The profile of its sender: how it treats Retry-After, and when it disables an endpoint. */
  profile?: SenderProfile | undefined;
}

/** A delivery about which nothing is known. */
export const NOTHING_KNOWN: Delivery = {};

/** The key of deliveries without one. */
export const DEFAULT_KEY = 'default';

const MAX_KEY_CHARACTERS = 256;
const MAX_ID_CHARACTERS = 256;

/**
 * Checks every field of a delivery.
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

/** All fields in the order of the interface. A misspelled field would be ignored silently. */
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
 * Checks the result of the option `delivery`: an object of known fields, or nothing.
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

/** The key of a delivery. A long one is shortened, since a sender may choose it. */
export function keyOf(delivery: Delivery): string {
  const { key } = delivery;
  if (key === undefined) return DEFAULT_KEY;
  return key.length > MAX_KEY_CHARACTERS ? hashed(key) : key;
}

/** The id, or undefined if there is none that can be kept. Deliveries with an empty id are not the same delivery. */
export function keptIdOf(delivery: Delivery): string | undefined {
  const { id } = delivery;
  return id === undefined || id === '' || id.length > MAX_ID_CHARACTERS ? undefined : id;
}

/**
 * Two independent 32-bit FNV-1a hashes and the length. A sender that finds a collision shares the queue of another long
 * key, and gains nothing else.
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
