import { BackpressureError } from '@webhook-backpressure/base';
import { checkRetries, checkRetryAfter, checkSwitchOff } from './habit-checks.ts';
import {
  checkHeader,
  checkNumber,
  checkText,
  fieldsOf,
  isDate,
  isInteger,
  isPattern,
  isText,
  wrong,
  type Fields,
} from './profile-fields.ts';
import type { SenderProfile } from './sender-profile.ts';

/** A match with an optional header. */
type LooseMatch = NonNullable<SenderProfile['handshake']>;

const PROFILE = [
  'name',
  'match',
  'id',
  'timeoutMs',
  'status',
  'retries',
  'retryAfter',
  'handshake',
  'success',
  'switchOff',
  'source',
  'verifiedAt',
];
const MATCH = ['header', 'value'];

/**
 * Checks the profiles of the option `senders` and prepares them for recognition: copies with lowercase header names and
 * stateless patterns.
 *
 * @param given - an array of profiles; undefined means none.
 * @throws BackpressureError `ERR_WBP_SENDERS`
 */
export function resolveSenders(given: unknown): readonly SenderProfile[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw wrong('senders', 'an array of sender profiles', given);
  const profiles = Array.from(given, (profile: unknown, i) => resolve(profile, `senders[${String(i)}]`));
  requireReachable(profiles);
  return profiles;
}

/** A profile that can never match is a mistake, and the sender that it describes would be treated as another one. */
function requireReachable(profiles: readonly SenderProfile[]): void {
  const all = profiles.findIndex(({ match }) => match === 'all');
  if (all === -1 || all === profiles.length - 1) return;
  const [first, next] = [`senders[${String(all)}]`, `senders[${String(all + 1)}]`];
  throw new BackpressureError(
    'ERR_WBP_SENDERS',
    `${next} never matches, because ${first} matches every request. List ${first} last.`,
  );
}

function resolve(given: unknown, at: string): SenderProfile {
  const fields = fieldsOf(given, at, PROFILE);
  const profile = fields as Partial<SenderProfile>;
  checkText(fields, 'name', at);
  const match = resolveIdentity(fields['match'], `${at}.match`);
  if (profile.id !== undefined) checkHeader(profile.id, `${at}.id`);
  checkNumber(fields, 'timeoutMs', at, 'a number of milliseconds above 0', (n) => n > 0);
  checkRetries(fields, at);
  checkRetryAfter(fields['retryAfter'], `${at}.retryAfter`);
  const handshake = resolveHandshake(fields['handshake'], match, `${at}.handshake`);
  checkSuccess(fields, at);
  checkSwitchOff(fields['switchOff'], `${at}.switchOff`);
  checkText(fields, 'source', at);
  if (!isDate(fields['verifiedAt']))
    throw wrong(`${at}.verifiedAt`, 'a date in the form YYYY-MM-DD', fields['verifiedAt']);
  return { ...(profile as SenderProfile), match, id: profile.id?.toLowerCase(), handshake };
}

function resolveIdentity(given: unknown, at: string): SenderProfile['match'] {
  if (given === 'all') return 'all';
  const { header, value } = resolveMatch(given, at, '"all" or an object');
  if (header === undefined) throw wrong(`${at}.header`, 'a valid header name', header);
  return { header, value };
}

function resolveMatch(given: unknown, at: string, rule?: string): LooseMatch {
  const { header, value } = fieldsOf(given, at, MATCH, rule);
  if (header !== undefined) checkHeader(header, `${at}.header`);
  if (value !== undefined && !isPattern(value) && !isText(value)) {
    throw wrong(`${at}.value`, 'a non-empty string or a regular expression', value);
  }
  return {
    header: header?.toLowerCase(),
    // With these flags a pattern keeps its last index and would match only every other time.
    value: isPattern(value) ? new RegExp(value.source, value.flags.replace(/[gy]/g, '')) : value,
  };
}

function resolveHandshake(given: unknown, match: SenderProfile['match'], at: string): LooseMatch | undefined {
  if (given === undefined) return undefined;
  const handshake = resolveMatch(given, at);
  if (handshake.header === undefined && handshake.value === undefined) {
    throw wrong(at, 'an object with header, value, or both', given);
  }
  if (handshake.header === undefined && match === 'all') {
    throw wrong(`${at}.header`, 'a valid header name when match is "all"', undefined);
  }
  return handshake;
}

function checkSuccess(fields: Fields, at: string): void {
  if (fields['success'] === '2xx') return;
  const rule = '"2xx" or an integer from 200 to 299';
  checkNumber(fields, 'success', at, rule, (n) => isInteger(n, 200) && n <= 299);
}
