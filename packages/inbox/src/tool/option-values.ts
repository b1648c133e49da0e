import { MAX_RATE, MIN_RATE } from '../admin/call-options.ts';
import type { PendingState } from '../store/store-admin.ts';
import { UsageError } from './target.ts';

const STATES: readonly string[] = ['ready', 'delayed', 'active'] satisfies readonly PendingState[];

export function stateOf(state: string | undefined): PendingState | undefined {
  if (state === undefined || STATES.includes(state)) return state as PendingState | undefined;
  throw new UsageError(`--state must be ready, delayed or active, but was ${JSON.stringify(state)}.`);
}

export function integerOf(name: string, given: string | undefined, least: number, base: number): number {
  const value = Number(given ?? base);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(
    `--${name} must be an integer of at least ${String(least)}, but was ${JSON.stringify(given)}.`,
  );
}

export function rateOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given.trim() !== '' && value >= MIN_RATE && value <= MAX_RATE) return value;
  throw new UsageError(
    `--per-second must be a number from ${String(MIN_RATE)} to ${MAX_RATE.toLocaleString('en')}, but was ${JSON.stringify(given)}.`,
  );
}
