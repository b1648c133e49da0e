import { builtInSenders, known, resolveSenders, type SenderProfile } from '@webhook-backpressure/senders';
import { BackpressureError, unknownName } from '@webhook-backpressure/base';
import type { Delivery } from '@webhook-backpressure/core';
import {
  ScenarioError,
  aBoolean,
  aCount,
  aNumber,
  aPositive,
  aString,
  DAY_MS,
  oneOf,
  type Fields,
} from './fields.ts';
import { parseHabit, type Habit, profileHabit } from './habits.ts';

/** A sender that the receiver does not recognize, with the habits of many: it ignores Retry-After. */
const UNKNOWN: SenderProfile = {
  name: 'unknown',
  match: 'all',
  retryAfter: 'ignored',
  source: 'assumed',
  verifiedAt: '2026-11-22',
};

/** The built-in senders, those with a profile for their own route, and the unknown one. */
const PROFILES: readonly SenderProfile[] = [...builtInSenders, ...Object.values(known), UNKNOWN];

/** The names of senders, in a request and in a scenario. */
export function senderNames(): string[] {
  return [...new Set(PROFILES.map(({ name }) => name))];
}

/**
 * The profile with this name. Of several with one name, the first.
 *
 * @throws ScenarioError for a name that does not exist, with the most similar one.
 */
export function profileNamed(name: string): SenderProfile {
  const profile = PROFILES.find((one) => one.name === name);
  if (profile === undefined) throw new ScenarioError(unknownName('sender', name, 'options', senderNames()));
  return profile;
}

/** Whether a receiver recognizes the sender with this profile. */
export function isRecognized(profile: SenderProfile): boolean {
  return profile !== UNKNOWN;
}

/** A kind of sender and its behavior. */
export interface Sender {
  readonly key: string;
  readonly share: number;
  readonly identified: boolean;
  /** Undefined: the receiver knows nothing of the sender but the fields of its deliveries. */
  readonly profile: SenderProfile | undefined;
  /** Whether the receiver knows the profile. Otherwise only the sender behaves as it says. */
  readonly recognized: boolean;
  readonly retry: Habit;
  /** Including the first attempt; 0: no limit beside that of the profile. */
  readonly maxAttempts: number;
  /** The sender disconnects after this time without an answer; 0: never. */
  readonly timeoutMs: number;
  /** Whether a rule of consecutive failures counts those of the endpoint, or those of one delivery. */
  readonly rowOf: 'endpoint' | 'delivery';
  /** Fields of its deliveries, in addition to key and id, or instead of what follows from the profile. */
  readonly delivery: Pick<Delivery, 'priority' | 'retries' | 'maxWaitMs' | 'statusCode'>;
}

/** The key of unrecognized senders. */
const DEFAULT_KEY = 'default';
/** The timeout of a sender that publishes none: the lowest that Standard Webhooks recommends. */
export const ASSUMED_TIMEOUT_MS = 15_000;

const aTimeout = aNumber(
  `a number of milliseconds from 0 to ${String(DAY_MS)}`,
  (ms) => ms >= 0 && ms <= DAY_MS,
);

export function readSender(fields: Fields): Sender {
  const profile = fields.has('profile') ? readProfile(fields) : undefined;
  const recognized = fields.get('recognized', aBoolean, profile === undefined || isRecognized(profile));
  const retryAt = `${fields.path}.retry`;
  return {
    key: fields.get('key', aString, recognized ? profile?.name : DEFAULT_KEY),
    share: fields.get('share', aPositive, 1),
    identified: fields.get('identified', aBoolean, true),
    profile,
    recognized,
    retry:
      profile === undefined || fields.has('retry')
        ? parseHabit(retryAt, fields.get('retry', aString))
        : profileHabit(profile),
    maxAttempts: fields.get('maxAttempts', aCount, 0),
    timeoutMs: fields.get('timeoutMs', aTimeout, timeoutOf(profile)),
    rowOf: fields.get('rowOf', oneOf('endpoint', 'delivery'), 'endpoint'),
    delivery: fields.has('delivery') ? fields.object('delivery', readDelivery) : {},
  };
}

function timeoutOf(profile: SenderProfile | undefined): number {
  return profile === undefined ? 0 : (profile.timeoutMs ?? ASSUMED_TIMEOUT_MS);
}

/** The name of a built-in profile, or a profile. */
function readProfile(fields: Fields): SenderProfile {
  const given = fields.raw('profile');
  const at = `${fields.path}.profile`;
  if (typeof given === 'string') return profileNamed(given);
  try {
    const [profile] = resolveSenders([given]);
    return profile as SenderProfile;
  } catch (error) {
    if (!(error instanceof BackpressureError)) throw error;
    throw new ScenarioError(error.message.replace('senders[0]', at));
  }
}

function readDelivery(fields: Fields): Sender['delivery'] {
  return {
    priority: fields.maybe('priority', oneOf('normal', 'critical')),
    retries: fields.maybe('retries', aBoolean),
    maxWaitMs: fields.maybe('maxWaitMs', aTimeout),
    statusCode: fields.maybe('statusCode', oneOf(429, 503)),
  };
}
