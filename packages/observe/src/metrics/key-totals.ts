import type { Readable } from './rows.ts';

/** The same, not readonly at any depth. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] extends object ? Writable<T[K]> : T[K] };

/** Counts the totals for each key, from events. */
export interface CountsByKey<R extends Readable> {
  /** The names of the attributes: of the key, and of the sender if there is one. */
  readonly labels: readonly [key: string, sender?: string];
  /** The types of the events that it counts. Each has a key and perhaps a sender, or an endpoint. */
  readonly events: ReadonlySet<R['event']['type']>;
  /** The totals of a new key, all 0. */
  create(): R['keyTotals'];
  /** Counts an event in the totals of its key. */
  add(event: R['event'], totals: R['keyTotals']): void;
}

/** The labels of an intake and an inbox. */
export const KEY_AND_SENDER = ['key', 'sender'] as const;
