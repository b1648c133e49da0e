import { isRecord } from '../../checks.ts';
import { invalid } from '../../errors.ts';
import type { DeadLetterScope, RedriveOptions } from '../delivery/dead-letter-types.ts';
import type { PageOptions } from '../delivery/content-types.ts';
import type { PageQuery, PendingState } from '../store/store-admin.ts';

export const DEFAULT_LIMIT = 100;

/** What the lists are narrowed to. */
const STATES: readonly unknown[] = ['ready', 'delayed', 'active'] satisfies readonly PendingState[];

export function checkedId(id: string): string {
  if (typeof (id as unknown) !== 'string') throw invalid('ERR_WBP_DEAD_LETTERS', 'id', 'a string', id);
  return id;
}

/** Null for all. */
export function whichOf(id: string): string | null {
  return checkedId(id) === 'all' ? null : id;
}

/** Where the key is not understood, nothing is done: left out, it would mean every key. */
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
