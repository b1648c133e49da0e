import { invalid, isRecord, type Signal } from '@webhook-backpressure/base';
import type { PageQuery, PendingState } from '../store/store-admin.ts';

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

/** The progress of a redrive or replay. */
export interface RedriveProgress {
  /** Deliveries that were put back so far. */
  readonly redriven: number;
  /** Deliveries that are left of those that existed when the call was made. */
  readonly remaining: number;
  /** Whether the inbox has no room at present; the call resumes when it has. */
  readonly isWaiting: boolean;
}

/** Options of a redrive or replay. */
export interface RedriveOptions extends DeadLetterScope {
  /** Stops after the current batch. The remaining deliveries stay where they are. */
  signal?: Signal | undefined;
  /** Called after each batch, and when there is no room. What it throws is ignored. */
  onProgress?: ((progress: RedriveProgress) => unknown) | undefined;
}

export const DEFAULT_LIMIT = 100;

const STATES: readonly unknown[] = ['ready', 'delayed', 'active'] satisfies readonly PendingState[];

export function checkedId(id: string): string {
  if (typeof (id as unknown) !== 'string') throw invalid('ERR_WBP_DEAD_LETTERS', 'id', 'a string', id);
  return id;
}

/** The id, or null for `all`. */
export function idOrAll(id: string): string | null {
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

export function checkedPage(options: PageOptions): PageQuery {
  const key = checkedKey(options);
  const { limit = DEFAULT_LIMIT, after = 0 } = options;
  return { key, limit: checkedInteger('limit', limit, 1), after: checkedInteger('after', after, 0) };
}

export function checkedState(state: PendingState | undefined): PendingState | undefined {
  if (state === undefined || STATES.includes(state)) return state;
  throw invalid('ERR_WBP_DEAD_LETTERS', 'state', '"ready", "delayed" or "active"', state);
}

export function checkedRedrive(options: RedriveOptions): RedriveOptions {
  const key = checkedKey(options);
  const { signal, onProgress } = options;
  const isSignal = isRecord(signal) && typeof signal.aborted === 'boolean';
  if (signal !== undefined && !isSignal)
    throw invalid('ERR_WBP_DEAD_LETTERS', 'signal', 'an AbortSignal', signal);
  if (onProgress !== undefined && typeof (onProgress as unknown) !== 'function')
    throw invalid('ERR_WBP_DEAD_LETTERS', 'onProgress', 'a function', onProgress);
  return { key, signal, onProgress };
}
