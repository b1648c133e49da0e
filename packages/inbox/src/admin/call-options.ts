import {
  checkBoolean,
  checkFunction,
  checkNames,
  checkNumber,
  invalid,
  isRecord,
  type Signal,
} from '@webhook-backpressure/base';
import type { PageQuery, PendingState } from '../store/store-admin.ts';
import type { Choice } from './batches.ts';
import { checkedFilter, type DeliveryFilter } from './delivery-filter.ts';

/** Restricts a call to one key, because ids are unique within a key only. Default: any key. */
export interface DeadLetterScope {
  /** Only deliveries of this key. Default: all keys. */
  key?: string | undefined;
}

/** Which page of a list. */
export interface PageOptions extends DeadLetterScope {
  /** The most deliveries on the page. Integer ≥ 1, default 100. */
  limit?: number | undefined;
  /** The `next` of the page before. Integer ≥ 0, default 0: the first page. */
  after?: number | undefined;
}

/** The progress of a redrive, replay or purge. */
export interface MoveProgress {
  /** Deliveries that were moved so far. */
  readonly moved: number;
  /** Deliveries that were compared with the filter so far; without a filter, as `moved`. */
  readonly looked: number;
  /** Deliveries in the list, or of the id or key, at the time of the call. */
  readonly total: number;
}

/** The progress of a redrive or replay. */
export interface RedriveProgress extends MoveProgress {
  /** The same as `moved`. */
  readonly redriven: number;
  /** Deliveries that are left of those that existed when the call was made; with a filter, at most. */
  readonly remaining: number;
  /** Whether the inbox has no room at present; the call resumes when it has. */
  readonly isWaiting: boolean;
}

/** How deliveries are moved. `key` is for an id or `all`; a filter has its own. */
export interface MoveOptions<P = MoveProgress> extends DeadLetterScope {
  /**
   * The most deliveries that are moved per second. A number from 0.01 to 100,000. Default: no limit beside the room in the
   * inbox.
   */
  perSecond?: number | undefined;
  /** Stops after the current batch. The remaining deliveries stay where they are. */
  signal?: Signal | undefined;
  /** Called after each batch, and when there is no room. What it throws is ignored. */
  onProgress?: ((progress: P) => unknown) | undefined;
}

/** Options of a redrive or replay. */
export type RedriveOptions = MoveOptions<RedriveProgress>;

/** What a call with `dryRun: true` would move. */
export interface DryRun<T> {
  /** How many deliveries. */
  readonly count: number;
  /** The first ones, 10 at most. */
  readonly first: readonly T[];
}

export const DEFAULT_LIMIT = 100;

const STATES: readonly unknown[] = ['ready', 'delayed', 'active'] satisfies readonly PendingState[];

export function checkedId(id: string): string {
  if (typeof (id as unknown) !== 'string') throw invalid('ERR_WBP_DEAD_LETTERS', 'id', 'a string', id);
  return id;
}

/** The id, or null for `all`. */
function idOrAll(id: string): string | null {
  return checkedId(id) === 'all' ? null : id;
}

/** Rejects an invalid or undefined key, because an absent one means every key. */
export function checkedKey(options: DeadLetterScope): string | undefined {
  if (typeof (options as unknown) !== 'object' || (options as unknown) === null)
    throw invalid('ERR_WBP_DEAD_LETTERS', 'options', 'an object', options);
  const { key } = options;
  if (typeof (key as unknown) === 'string' || !('key' in options)) return key;
  throw invalid('ERR_WBP_DEAD_LETTERS', 'key', 'a string if it is given', key);
}

export function checkedInteger(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw invalid('ERR_WBP_DEAD_LETTERS', name, `an integer of at least ${String(least)}`, value);
}

export function checkedPage({ limit = DEFAULT_LIMIT, after = 0 }: PageOptions): Omit<PageQuery, 'key'> {
  return { limit: checkedInteger('limit', limit, 1), after: checkedInteger('after', after, 0) };
}

export function checkedState(state: PendingState | undefined): PendingState | undefined {
  if (state === undefined || STATES.includes(state)) return state;
  throw invalid('ERR_WBP_DEAD_LETTERS', 'state', '"ready", "delayed" or "active"', state);
}

/** The deliveries that a call chooses by an id, by `all` or by a filter. */
export function checkedChoice(
  which: string | DeliveryFilter,
  options: DeadLetterScope,
  fields: readonly (keyof DeliveryFilter)[],
): Choice {
  const key = checkedKey(options);
  if (typeof (which as unknown) !== 'object' || (which as unknown) === null)
    return { id: idOrAll(which as string), filter: key === undefined ? {} : { key } };
  const filter = checkedFilter(which as DeliveryFilter, 'the filter', fields);
  if (key !== undefined)
    throw invalid('ERR_WBP_DEAD_LETTERS', 'key', 'in the filter, and not beside it', key);
  // A filter whose fields were all forgotten must not move everything.
  if (Object.keys(filter).length > 0) return { id: null, filter };
  throw invalid('ERR_WBP_DEAD_LETTERS', 'The filter', "an object with at least one field, or 'all'", which);
}

export function checkSignal(signal: Signal | undefined): void {
  const isSignal = isRecord(signal) && typeof signal.aborted === 'boolean';
  if (signal !== undefined && !isSignal)
    throw invalid('ERR_WBP_DEAD_LETTERS', 'signal', 'an AbortSignal', signal);
}

export const MIN_RATE = 0.01;
export const MAX_RATE = 100_000;

export function checkedMove<P>(
  options: MoveOptions<P> & { readonly dryRun?: boolean | undefined },
): Omit<MoveOptions<P>, 'key'> & { readonly dryRun: boolean } {
  checkNames(
    options,
    'options',
    ['key', 'perSecond', 'signal', 'onProgress', 'dryRun'],
    'ERR_WBP_DEAD_LETTERS',
  );
  const { signal, onProgress, perSecond, dryRun = false } = options;
  checkSignal(signal);
  if (onProgress !== undefined) checkFunction('ERR_WBP_DEAD_LETTERS', 'onProgress', onProgress);
  if (perSecond !== undefined)
    checkNumber('ERR_WBP_DEAD_LETTERS', 'perSecond', perSecond, MIN_RATE, MAX_RATE, 'deliveries per second');
  checkBoolean('ERR_WBP_DEAD_LETTERS', 'dryRun', dryRun);
  return { signal, onProgress, perSecond, dryRun };
}
