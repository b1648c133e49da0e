import type { SenderProfile } from '@webhook-backpressure/senders';

/** The cells that docs/senders.md must have for a sender, by column title. */
export type Cells = Record<
  'Key' | 'Identified by' | 'Id' | 'Timeout' | 'Retries' | 'Status' | 'Retry-After' | 'Success',
  string
>;

const NOTHING = '–';
const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** @param profiles - all profiles with the sender's name. */
export function cellsOf(profiles: readonly SenderProfile[]): Cells {
  const [profile] = profiles as [SenderProfile];
  return {
    Key: `\`${profile.name}\``,
    'Identified by': codes(profiles.map(({ match }) => (match === 'all' ? undefined : match.header))),
    Id: codes(profiles.map(({ id }) => id)),
    Timeout: profile.timeoutMs === undefined ? NOTHING : duration(profile.timeoutMs / 1000),
    Retries: repeats(profile),
    Status: String(profile.status ?? NOTHING),
    'Retry-After': retryAfter(profile),
    Success: String(profile.success ?? NOTHING),
  };
}

function codes(headers: readonly (string | undefined)[]): string {
  const known = new Set(headers.filter((header) => header !== undefined));
  return known.size === 0 ? NOTHING : [...known].map((header) => `\`${header}\``).join(', ');
}

function repeats(profile: SenderProfile): string {
  const { retries = {} } = profile;
  if (retries === 'none') return 'never';
  const seconds = retriesForS(profile);
  const parts = [
    retries.maxAttempts === undefined ? undefined : `${String(retries.maxAttempts)} attempts`,
    seconds === undefined || seconds === 0 ? undefined : `for ${duration(seconds)}`,
    retries.after === undefined ? undefined : `after ${retries.after.join(' or ')}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? NOTHING : parts.join(', ');
}

function retryAfter({ retryAfter: habit }: SenderProfile): string {
  if (habit === 'ignored') return 'ignored';
  return [
    habit?.unit === 'ms' ? 'milliseconds' : 'seconds',
    habit?.minSeconds === undefined ? '' : `, at least ${String(habit.minSeconds)}`,
    habit?.maxSeconds === undefined ? '' : `, at most ${String(habit.maxSeconds)}`,
  ].join('');
}

/** For how long a sender repeats a delivery, in seconds; undefined if that is unknown. */
export function retriesForS({ retries = {} }: SenderProfile): number | undefined {
  if (retries === 'none') return 0;
  const { maxAttempts, scheduleS, windowS } = retries;
  if (windowS !== undefined || scheduleS === undefined) return windowS;
  const last = scheduleS.at(-1) ?? 0;
  const repeated = Math.max(0, (maxAttempts ?? 0) - 1 - scheduleS.length);
  return scheduleS.reduce((sum, s) => sum + s, repeated * last);
}

/**
 * Formats seconds with two digits in the largest unit of which there are two: 129,600 s is 36 h, and 99,305 s is 28 h.
 */
export function duration(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= 2 * size) ?? [1, 's'];
  const count = seconds / size;
  return `${String(Number.isInteger(count) || seconds < 2 ? count : Number(count.toPrecision(2)))} ${unit}`;
}
