import { checkNames, invalid } from '@webhook-backpressure/base';
import { eventTypeOf } from '../delivery/event-type.ts';
import { rawDelivery } from '../delivery/inbox-delivery.ts';
import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';
import type { WithoutBody } from '../store/store-admin.ts';

/**
 * Chooses deliveries: those that match every field. A field that is present must not be undefined, because an absent one
 * matches every delivery.
 */
export interface DeliveryFilter {
  /** Only deliveries of this key. */
  readonly key?: string | undefined;
  /** The name of the sender. */
  readonly sender?: string | undefined;
  /**
   * The type of the event: from a header such as `x-github-event`, else from the JSON body, which is read from the store
   * for this.
   */
  readonly event?: string | undefined;
  /** Received at this time or later. */
  readonly receivedFrom?: Date | undefined;
  /** Received before this time. */
  readonly receivedTo?: Date | undefined;
  /** Died or completed at this time or later. */
  readonly endedFrom?: Date | undefined;
  /** Died or completed before this time. */
  readonly endedTo?: Date | undefined;
  /** Part of the error of the last attempt, in upper or lower case. */
  readonly error?: string | undefined;
  /** Part of the body as UTF-8, in this case. Each body that the other fields leave is read from the store for this. */
  readonly text?: string | undefined;
}

/** The fields that unfinished deliveries can be chosen by. */
export type PendingFilter = Omit<DeliveryFilter, 'endedFrom' | 'endedTo' | 'error'>;
/** The fields that completed deliveries can be chosen by. */
export type CompletedFilter = Omit<DeliveryFilter, 'error'>;

type Field = keyof DeliveryFilter;

const TIMES: readonly Field[] = ['receivedFrom', 'receivedTo', 'endedFrom', 'endedTo'];
export const PENDING_FIELDS: readonly Field[] = [
  'key',
  'sender',
  'event',
  'receivedFrom',
  'receivedTo',
  'text',
];
export const COMPLETED_FIELDS: readonly Field[] = [...PENDING_FIELDS, 'endedFrom', 'endedTo'];
export const DEAD_LETTER_FIELDS: readonly Field[] = [...COMPLETED_FIELDS, 'error'];

/**
 * The filter in an object that may have other options too.
 *
 * @param of - what the object is, for messages.
 * @param others - the names of the other options.
 */
export function checkedFilter(
  given: object,
  of: string,
  fields: readonly Field[],
  others: readonly string[] = [],
): DeliveryFilter {
  checkNames(given, of, [...fields, ...others], 'ERR_WBP_DEAD_LETTERS');
  const filter: Record<string, unknown> = {};
  for (const field of fields) {
    if (!(field in given)) continue;
    const value: unknown = (given as DeliveryFilter)[field];
    const problem = TIMES.includes(field) ? problemOfTime(value) : problemOfText(field, value);
    if (problem !== undefined) throw invalid('ERR_WBP_DEAD_LETTERS', field, problem, value);
    filter[field] = value;
  }
  return filter;
}

function problemOfTime(value: unknown): string | undefined {
  const isTime = value instanceof Date && !Number.isNaN(value.getTime());
  return isTime ? undefined : 'a valid Date if it is given';
}

function problemOfText(field: Field, value: unknown): string | undefined {
  if (field === 'key') return typeof value === 'string' ? undefined : 'a string if it is given';
  return typeof value === 'string' && value !== ''
    ? undefined
    : 'a string of at least one character if it is given';
}

/** Whether more than the key decides, so that deliveries have to be compared. */
export function needsScan(filter: DeliveryFilter): boolean {
  return Object.keys(filter).some((field) => field !== 'key');
}

/** A delivery of a list. */
export type Candidate = Omit<StoredDelivery, 'rawBody'> & WithoutBody & { readonly error?: string };

/** Compares the deliveries of a list with a filter. */
export interface Comparison<T extends Candidate> {
  /** The delivery with its body, decrypted. Undefined if it has left the list. */
  readonly whole: (one: T) => Awaitable<StoredDelivery | undefined>;
  /** When it died or completed, in ms since 1970. Absent for unfinished ones. */
  readonly endedMs?: (one: T) => number;
}

/** Whether a delivery matches. Its body is read only if the other fields leave it undecided. */
export async function matches<T extends Candidate>(
  filter: DeliveryFilter,
  one: T,
  { whole, endedMs }: Comparison<T>,
): Promise<boolean> {
  const { key, sender, receivedFrom, receivedTo, endedFrom, endedTo, error, event, text } = filter;
  if (key !== undefined && one.key !== key) return false;
  if (sender !== undefined && one.sender !== sender) return false;
  if (!isWithin(one.receivedAtMs, receivedFrom, receivedTo)) return false;
  if (endedMs !== undefined && !isWithin(endedMs(one), endedFrom, endedTo)) return false;
  if (error !== undefined && one.error?.toLowerCase().includes(error.toLowerCase()) !== true) return false;
  const isOfEvent = event === undefined || isOfType(event, one);
  if (isOfEvent === false) return false;
  if (isOfEvent === true && text === undefined) return true;
  const found = await whole(one);
  if (found === undefined) return false;
  const { headers, text: textOf, json } = rawDelivery(found);
  if (isOfEvent === undefined && eventTypeOf({ headers, json }) !== event) return false;
  return text === undefined || textOf().includes(text);
}

/** By the headers alone. Undefined if they do not decide. */
function isOfType(event: string, { headers }: Candidate): boolean | undefined {
  const asked = { forBody: false };
  const found = eventTypeOf({
    headers,
    json: () => {
      asked.forBody = true;
      return undefined;
    },
  });
  return found === undefined && asked.forBody ? undefined : found === event;
}

function isWithin(ms: number, from: Date | undefined, to: Date | undefined): boolean {
  return (from === undefined || ms >= from.getTime()) && (to === undefined || ms < to.getTime());
}
