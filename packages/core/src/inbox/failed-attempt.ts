import type { InboxSettings } from './inbox-settings.ts';
import type { Settlement } from './inbox-store.ts';
import { retryDelayMs } from './retry-delay.ts';
import type { Run } from './run.ts';
import type { Storeroom } from './storeroom.ts';

/** What becomes of a delivery whose attempt has failed. */
export interface FailedAttempt {
  readonly settlement: Settlement;
  readonly isDead: boolean;
  /** Whether it was the last attempt, and is made again since the shelf is full. */
  readonly isRepeated: boolean;
  readonly retryInMs: number;
}

/**
 * After the last attempt a delivery goes to the shelf. Where the shelf is full it stays unfinished, and its last attempt
 * is made again after the longest delay: so the inbox fills, and refuses senders, but loses nothing.
 */
export function failedAttempt(
  { ref, bytes, countedAttempts }: Run,
  error: string,
  {
    retry,
    random,
    nowMs,
    room,
  }: {
    readonly retry: InboxSettings['retry'];
    readonly random: () => number;
    readonly nowMs: number;
    readonly room: Pick<Storeroom, 'canShelve'>;
  },
): FailedAttempt {
  const isLast = countedAttempts >= retry.attempts;
  const isDead = isLast && room.canShelve(bytes);
  const isRepeated = isLast && !isDead;
  const retryInMs = isRepeated ? retry.maxDelayMs : retryDelayMs(countedAttempts, retry, random);
  const settlement: Settlement = isDead
    ? { ...ref, as: 'dead', error }
    : { ...ref, as: 'failed', retryAtMs: nowMs + retryInMs, error, isRepeated };
  return { settlement, isDead, isRepeated, retryInMs };
}
