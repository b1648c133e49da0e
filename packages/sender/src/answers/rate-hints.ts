/** The limit of the endpoint, as the headers of any answer state it. */
export interface RateHints {
  /** Requests that are left. */
  readonly remaining: number;
  /** Until the limit is renewed, in milliseconds. */
  readonly resetMs: number;
  /** Of a receiver with Webhook Backpressure: how full its queue is, from 0 to 1, the mark where it begins to refuse. */
  readonly fill?: number | undefined;
}

type Headers = (name: string) => string | undefined;

/**
 * Reads the remaining requests that an answer states, in this order: `RateLimit` of draft 8 and later
 * (`"name";r=0;t=5`) or of draft 7 (`limit=10, remaining=0, reset=5`), `RateLimit-Remaining` and `RateLimit-Reset` of older
 * drafts, `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
 *
 * @param header - the value of a header, by its name in lower case.
 * @param nowMs - returns the wall-clock time, for resets that are dates.
 * @returns the tightest of several limits; undefined if there is none that says both.
 */
export function rateHints(header: Headers, nowMs: () => number): RateHints | undefined {
  const field = header('ratelimit');
  const limit = field === undefined ? undefined : tightest(limitsOf(field));
  if (limit !== undefined) return limit;
  for (const prefix of ['ratelimit', 'x-ratelimit']) {
    const left = header(`${prefix}-remaining`);
    if (left === undefined) continue;
    const remaining = numberOf(left);
    const reset = numberOf(header(`${prefix}-reset`) ?? '');
    if (remaining !== undefined && reset !== undefined)
      return { remaining: Math.floor(remaining), resetMs: resetMsOf(reset, nowMs) };
  }
  return undefined;
}

// More than any server sends.
const MAX_CHARACTERS = 1000;

// A member of a structured field ends at a comma, and a parameter at a semicolon, unless they are in quotes.
const MEMBER = /(?:"(?:[^"\\]|\\.)*"|[^",])+/g;
const PARAMETER = /(?:^|;)\s*(?<name>[a-z*][\w*.-]*)=(?<value>\d{1,15})\s*(?=;|$)/g;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

function limitsOf(field: string): RateHints[] {
  const limits: RateHints[] = [];
  if (field.length > MAX_CHARACTERS || field.replaceAll(QUOTED, '').includes('"')) return limits;
  const draft7 = new Map<string, number>();
  for (const member of field.match(MEMBER) ?? []) {
    const parameters = parametersOf(member);
    addLimit(limits, parameters.get('r'), parameters.get('t'));
    for (const [name, value] of parameters) draft7.set(name, value);
  }
  if (limits.length === 0) addLimit(limits, draft7.get('remaining'), draft7.get('reset'));
  return limits;
}

function parametersOf(member: string): Map<string, number> {
  // Quoted text can look like a parameter.
  const unquoted = member.replaceAll(QUOTED, '');
  return new Map(
    Array.from(unquoted.matchAll(PARAMETER), ([, name = '', value]): [string, number] => [
      name,
      Number(value),
    ]),
  );
}

function addLimit(limits: RateHints[], remaining: number | undefined, resetS: number | undefined): void {
  if (remaining !== undefined && resetS !== undefined) limits.push({ remaining, resetMs: resetS * 1000 });
}

/** With nothing left, the longest reset counts; otherwise the lowest rate until the reset. */
function tightest(limits: readonly RateHints[]): RateHints | undefined {
  return limits.reduce<RateHints | undefined>((a, b) => {
    if (a === undefined) return b;
    if (a.remaining === 0 && b.remaining === 0) return b.resetMs > a.resetMs ? b : a;
    return b.remaining * a.resetMs < a.remaining * b.resetMs ? b : a;
  }, undefined);
}

function numberOf(value: string): number | undefined {
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(value) ? Number(value) : undefined;
}

// September 2001 in seconds since 1970, and in milliseconds. No limit is renewed in 31 years.
const UNIX_SECONDS = 1e9;
const UNIX_MILLISECONDS = 1e12;

/** Servers send seconds from now, a Unix time in seconds, or a Unix time in milliseconds: the size says which. */
function resetMsOf(reset: number, nowMs: () => number): number {
  if (reset < UNIX_SECONDS) return reset * 1000;
  return Math.max(0, (reset < UNIX_MILLISECONDS ? reset * 1000 : reset) - nowMs());
}

const POLICY = /^"queue";q=(?<size>[1-9]\d{0,8})$/;
const LEFT = /^"queue";r=(?<left>\d{1,9});/;

/**
 * How full the queue of a receiver with Webhook Backpressure is, from `RateLimit-Policy: "queue";q=800` and
 * `RateLimit: "queue";r=600;t=2`. Only a limit of this name is a queue: the remainder of a quota says how much was used,
 * not how much waits.
 *
 * @returns from 0 to 1; undefined without a queue.
 */
export function queueFill(header: Headers): number | undefined {
  const size = POLICY.exec(header('ratelimit-policy') ?? '')?.groups?.['size'];
  const left = LEFT.exec(header('ratelimit') ?? '')?.groups?.['left'];
  if (size === undefined || left === undefined) return undefined;
  return Math.max(0, 1 - Number(left) / Number(size));
}
