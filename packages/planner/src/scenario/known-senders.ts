import { builtInSenders, known, type SenderProfile } from '@webhook-backpressure/senders';
import { unknownName } from '@webhook-backpressure/base';
import { ScenarioError } from './fields.ts';

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
