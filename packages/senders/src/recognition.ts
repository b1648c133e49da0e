import type { HeaderMatch, RequestHeaders, SenderProfile } from './sender-profile.ts';

/** Identifies senders by their request headers. */
export interface Recognition {
  /**
   * Returns the first profile in the list that matches, or undefined. Reads the first 128 headers, looks each up once,
   * and runs only the patterns for headers of the request, so the cost does not depend on the number of profiles.
   * Allocates nothing and never throws.
   *
   * @param headers - names in lower case.
   */
  find(headers: RequestHeaders): SenderProfile | undefined;
}

/** Deliveries have some tens of headers, including those of proxies. More are not worth the time. */
const MAX_HEADERS = 128;
/** The part of a value that patterns see, so that a slow pattern cannot be fed megabytes. */
const MAX_CHARACTERS = 1024;
const STANDARD_IDS = ['webhook-id', 'idempotency-key'];

interface Candidate {
  readonly profile: SenderProfile;
  /** Its index in the list: the lowest takes precedence. */
  readonly rank: number;
}

/** The profiles that match on one header. */
interface ByHeader {
  present: Candidate | undefined;
  readonly exact: Map<string, Candidate>;
  readonly patterns: (Candidate & { readonly pattern: RegExp })[];
}

/**
 * Builds an index by header and, within a header, by value.
 *
 * @param profiles - valid profiles with lowercase header names and patterns without the flags `g` and `y`, as in
 * {@link builtInSenders} and as returned by {@link resolveSenders}. Earlier profiles take precedence.
 */
export function createRecognition(profiles: readonly SenderProfile[]): Recognition {
  const index = new Map<string, ByHeader>();
  let always: Candidate | undefined;
  for (const [rank, profile] of profiles.entries()) {
    if (profile.match === 'all') always ??= { profile, rank };
    else addTo(index, profile.match, { profile, rank });
  }

  return {
    find(headers) {
      let best = always;
      let read = 0;
      for (const name in headers) {
        if (read === MAX_HEADERS) break;
        read += 1;
        const group = index.get(name);
        if (group === undefined) continue;
        const value = first(headers[name]);
        if (value !== undefined) best = earliest(group, value, best);
      }
      return best?.profile;
    },
  };
}

function addTo(index: Map<string, ByHeader>, { header, value }: HeaderMatch, candidate: Candidate): void {
  let group = index.get(header);
  if (group === undefined) {
    group = { present: undefined, exact: new Map(), patterns: [] };
    index.set(header, group);
  }
  if (value === undefined) group.present ??= candidate;
  else if (typeof value !== 'string') group.patterns.push({ ...candidate, pattern: value });
  else if (!group.exact.has(value)) group.exact.set(value, candidate);
}

function earliest(group: ByHeader, value: string, best: Candidate | undefined): Candidate | undefined {
  const present = earlier(best, group.present);
  const found = group.exact.size === 0 ? present : earlier(present, group.exact.get(value));
  for (const candidate of group.patterns) {
    // Patterns are sorted by rank, so no later one can take precedence.
    if (found !== undefined && found.rank < candidate.rank) break;
    if (matches(value, candidate.pattern)) return candidate;
  }
  return found;
}

function earlier(a: Candidate | undefined, b: Candidate | undefined): Candidate | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.rank < b.rank ? a : b;
}

/** Whether a request of this sender is its handshake. */
export function isHandshake({ handshake, match }: SenderProfile, headers: RequestHeaders): boolean {
  if (handshake === undefined) return false;
  const header = handshake.header ?? (match === 'all' ? undefined : match.header);
  const value = header === undefined ? undefined : first(headers[header]);
  return value !== undefined && (handshake.value === undefined || matches(value, handshake.value));
}

/** The delivery id: from the profile's header, otherwise from `webhook-id`, otherwise undefined. Never empty. */
export function idOf(profile: SenderProfile | undefined, headers: RequestHeaders): string | undefined {
  const own = profile?.id === undefined ? undefined : filled(headers[profile.id]);
  if (own !== undefined) return own;
  for (const name of STANDARD_IDS) {
    const id = filled(headers[name]);
    if (id !== undefined) return id;
  }
  return undefined;
}

function matches(value: string, expected: NonNullable<HeaderMatch['value']>): boolean {
  if (typeof expected === 'string') return value === expected;
  return expected.test(value.length > MAX_CHARACTERS ? value.slice(0, MAX_CHARACTERS) : value);
}

/** The value may be anything, also an inherited property: a header may be called `constructor`. */
function first(value: unknown): string | undefined {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === 'string' ? one : undefined;
}

/** An empty id would make all deliveries that have it one delivery. */
function filled(value: unknown): string | undefined {
  const text = first(value);
  return text === '' ? undefined : text;
}
