import { builtInSenders, type SenderProfile } from '@webhook-backpressure/core';
import { unknownName } from '@webhook-backpressure/core/parts';
import { ScenarioError } from '../scenario/fields.ts';

/** The name of senders without a profile. */
const UNKNOWN = 'unknown';

/** The names that a request may contain, in the order of the profiles. */
export function senderNames(): string[] {
  return [...new Set([...builtInSenders.map(({ name }) => name), UNKNOWN])];
}

/**
 * The profile with this name; undefined for `unknown`. Of several with one name, the first.
 *
 * @throws ScenarioError for a name that does not exist, with the most similar one.
 */
export function profileNamed(name: string): SenderProfile | undefined {
  if (name === UNKNOWN) return undefined;
  const profile = builtInSenders.find((one) => one.name === name);
  if (profile === undefined) throw new ScenarioError(unknownName('sender', name, 'options', senderNames()));
  return profile;
}
