import type { SenderProfile } from '@webhook-backpressure/senders';
import { retriesForS } from '../../../packages/senders/src/advice.ts';

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
    seconds === Infinity || seconds === 0 ? undefined : `for ${duration(seconds)}`,
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

/**
 * Formats seconds with two digits in the largest unit of which there are two: 129,600 s is 36 h, and 99,305 s is 28 h.
 */
export function duration(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= 2 * size) ?? [1, 's'];
  const count = seconds / size;
  return `${String(Number.isInteger(count) || seconds < 2 ? count : Number(count.toPrecision(2)))} ${unit}`;
}
