import type { HeaderSenderProfile } from '@webhook-backpressure/core';

/** The cells that docs/senders.md must have for a sender, by column title. */
export type Cells = Record<
  'Key' | 'Identified by' | 'Id' | 'Timeout' | 'Retries' | 'Status' | 'Retry-After',
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
export function cellsOf(profiles: readonly HeaderSenderProfile[]): Cells {
  const [profile] = profiles as [HeaderSenderProfile];
  return {
    Key: `\`${profile.name}\``,
    'Identified by': codes(profiles.map(({ match }) => match.header)),
    Id: codes(profiles.map(({ id }) => id)),
    Timeout: profile.timeoutMs === undefined ? NOTHING : duration(profile.timeoutMs / 1000),
    Retries: repeats(profile),
    Status: String(profile.status ?? NOTHING),
    'Retry-After': retryAfter(profile),
  };
}

function codes(headers: readonly (string | undefined)[]): string {
  const known = new Set(headers.filter((header) => header !== undefined));
  return known.size === 0 ? NOTHING : [...known].map((header) => `\`${header}\``).join(', ');
}

function repeats({ retries = {} }: HeaderSenderProfile): string {
  if (retries === 'none') return 'never';
  const { maxAttempts, windowS } = retries;
  const parts = [
    maxAttempts === undefined ? undefined : `${String(maxAttempts)} attempts`,
    windowS === undefined ? undefined : `for ${duration(windowS)}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? NOTHING : parts.join(', ');
}

function retryAfter({ retryAfter: habit }: HeaderSenderProfile): string {
  if (habit === 'ignored') return 'ignored';
  const unit = habit?.unit === 'ms' ? 'milliseconds' : 'seconds';
  return habit?.minSeconds === undefined ? unit : `${unit}, at least ${String(habit.minSeconds)}`;
}

/** Formats seconds in the largest unit that divides them: 129,600 s is 36 h, and 86,400 s is 24 h. */
export function duration(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= 2 * size && seconds % size === 0) ?? [1, 's'];
  return `${String(seconds / size)} ${unit}`;
}
