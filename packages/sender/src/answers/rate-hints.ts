import type { RateHints } from './outcome.ts';

type Headers = (name: string) => string | undefined;

/**
 * Reads the remaining requests that an answer states, in this order: `RateLimit` of draft 8 and later
 * (`"name";r=0;t=5`) or of draft 7 (`limit=10, remaining=0, reset=5`), `RateLimit-Remaining` and `RateLimit-Reset` of older
 * drafts, `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
 *
 * @param header - the value of a header, by its name in lower case.
 * @param nowMs - the wall-clock time, for resets that are dates.
 * @returns the tightest of several limits; undefined if there is none that says both.
 */
export function rateHints(header: Headers, nowMs: number): RateHints | undefined {
  return (
    tightest(limitsOf(header('ratelimit') ?? '')) ??
    pair(header('ratelimit-remaining'), header('ratelimit-reset'), nowMs) ??
    pair(header('x-ratelimit-remaining'), header('x-ratelimit-reset'), nowMs)
  );
}

// More than any server sends.
const MOST_CHARACTERS = 1000;

// A member of a structured field ends at a comma, and a parameter at a semicolon, unless they are in quotes.
const MEMBER = /(?:"(?:[^"\\]|\\.)*"|[^",])+/g;
const PARAMETER = /(?:^|;)\s*(?<name>[a-z*][\w*.-]*)=(?<value>\d{1,15})\s*(?=;|$)/g;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

function limitsOf(field: string): RateHints[] {
  const limits: RateHints[] = [];
  if (field.length > MOST_CHARACTERS || field.replaceAll(QUOTED, '').includes('"')) return limits;
  const members = field.match(MEMBER) ?? [];
  const draft7 = new Map<string, number>();
  for (const member of members) {
    const parameters = parametersOf(member);
    const limit = limitOf(parameters.get('r'), parameters.get('t'));
    if (limit) limits.push(limit);
    for (const [name, value] of parameters) draft7.set(name, value);
  }
  const old = limitOf(draft7.get('remaining'), draft7.get('reset'));
  return old && limits.length === 0 ? [old] : limits;
}

function parametersOf(member: string): Map<string, number> {
  const parameters = new Map<string, number>();
  // Quoted text can look like a parameter.
  const unquoted = member.replaceAll(QUOTED, '').trim();
  for (const { groups } of unquoted.matchAll(PARAMETER)) {
    if (groups) parameters.set(String(groups['name']), Number(groups['value']));
  }
  return parameters;
}

function limitOf(remaining: number | undefined, resetS: number | undefined): RateHints | undefined {
  if (remaining === undefined || resetS === undefined) return undefined;
  return { remaining, resetMs: resetS * 1000 };
}

/** With nothing left, the longest reset counts; otherwise the lowest rate until the reset. */
function tightest(limits: readonly RateHints[]): RateHints | undefined {
  return limits.reduce<RateHints | undefined>((a, b) => {
    if (a === undefined) return b;
    if (a.remaining === 0 || b.remaining === 0) {
      if (a.remaining !== 0) return b;
      return b.remaining === 0 && b.resetMs > a.resetMs ? b : a;
    }
    return b.remaining * a.resetMs < a.remaining * b.resetMs ? b : a;
  }, undefined);
}

function pair(
  remaining: string | undefined,
  reset: string | undefined,
  nowMs: number,
): RateHints | undefined {
  const left = numberOf(remaining);
  const resetMs = resetOf(numberOf(reset), nowMs);
  if (left === undefined || resetMs === undefined) return undefined;
  return { remaining: Math.floor(left), resetMs };
}

function numberOf(value: string | undefined): number | undefined {
  const text = value?.trim() ?? '';
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

// September 2001 in seconds since 1970, and in milliseconds. No limit is renewed in 31 years.
const UNIX_SECONDS = 1e9;
const UNIX_MILLISECONDS = 1e12;

/** Servers send seconds from now, a Unix time in seconds, or a Unix time in milliseconds: the size says which. */
function resetOf(reset: number | undefined, nowMs: number): number | undefined {
  if (reset === undefined) return undefined;
  if (reset < UNIX_SECONDS) return reset * 1000;
  return Math.max(0, (reset < UNIX_MILLISECONDS ? reset * 1000 : reset) - nowMs);
}
