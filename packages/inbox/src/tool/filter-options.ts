import type { DeliveryFilter } from '../admin/delivery-filter.ts';
import { UsageError } from './target.ts';

/** The options that choose deliveries, beside `--key`. */
export type FilterOption =
  'sender' | 'event' | 'error' | 'text' | 'from' | 'to' | 'received-from' | 'received-to';

export const PENDING_OPTIONS: readonly FilterOption[] = [
  'sender',
  'event',
  'text',
  'received-from',
  'received-to',
];
export const COMPLETED_OPTIONS: readonly FilterOption[] = [...PENDING_OPTIONS, 'from', 'to'];
export const DEAD_OPTIONS: readonly FilterOption[] = [...COMPLETED_OPTIONS, 'error'];

export const FILTER_HELP: readonly (readonly [name: string, does: string])[] = [
  ['--sender NAME', 'only of this sender'],
  ['--event TYPE', 'only events of this type, by a header or the JSON body'],
  ['--error TEXT', 'only dead letters with this in their error, in upper or lower case'],
  ['--text TEXT', 'only with this in the body, in this case'],
  ['--from TIME', 'only dead or completed since then, such as 2026-11-27 or 2026-11-27T09:30, in UTC'],
  ['--to TIME', 'only dead or completed before then'],
  ['--received-from TIME', 'only received since then; and --received-to TIME'],
];

type Values = Readonly<Record<string, string | undefined>>;

/** @throws UsageError for a value that is empty or no time. */
export function filterOf(values: Values): DeliveryFilter {
  const { key } = values;
  const filter: Record<string, string | Date> = key === undefined ? {} : { key };
  for (const name of ['sender', 'event', 'error', 'text'] as const) {
    const value = values[name];
    if (value === '') throw new UsageError(`--${name} must not be empty.`);
    if (value !== undefined) filter[name] = value;
  }
  const times = {
    from: 'endedFrom',
    to: 'endedTo',
    'received-from': 'receivedFrom',
    'received-to': 'receivedTo',
  };
  for (const [name, field] of Object.entries(times)) {
    const value = values[name];
    if (value !== undefined) filter[field] = timeOf(name, value);
  }
  return filter;
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

function timeOf(name: string, value: string): Date {
  const [matched, zone] = TIME.exec(value) ?? [];
  // The tool prints UTC. Without a zone, JavaScript reads a date as UTC and a time as local.
  const time = new Date(value.includes('T') && zone === undefined ? `${value}Z` : value);
  if (matched !== undefined && !Number.isNaN(time.getTime())) return time;
  throw new UsageError(
    `--${name} must be a date or a time such as 2026-11-27 or 2026-11-27T09:30, but was ${JSON.stringify(value)}.`,
  );
}
