import type { AlarmEvent } from '../delivery/alarm-event.ts';
import type { Clock } from '@webhook-backpressure/base';

/** What an observation reads in an intake or inbox beside its events, and how it reports alarms. */
export interface ObserveHandle {
  readonly kind: 'intake' | 'inbox';
  /** Whether refusals are only reported. */
  readonly isDryRun: boolean;
  readonly clock: Clock;
  /** The monotonic time of the source, in milliseconds. */
  now(): number;
  isOpen(): boolean;
  /** Whether no delivery is queued or active, so that no alarm can become due. */
  isIdle(): boolean;
  /** How many deliveries are queued; in an inbox, stored and unfinished. */
  depth(): number;
  /** How long the workers have been stalled, in milliseconds; 0 if they are not. */
  stalledMs(nowMs: number): number;
  /** How many senders are close to disabling the endpoint. */
  endangered(nowMs: number): number;
  /** The age of the oldest delivery of an inbox, in milliseconds. */
  oldestAgeMs(): number;
  /** How long calls of the store of an inbox have been failing, in milliseconds. */
  storeFailingMs(): number;
  report(nowMs: number, event: AlarmEvent): void;
}

/** The handle of an intake or inbox of these packages; undefined for any other value. */
export function observeHandleOf(intake: unknown): ObserveHandle | undefined {
  // Not instanceof: an application may load this package twice, as ES module and as CommonJS.
  const { observeHandle } = (intake as { observeHandle?: () => ObserveHandle } | undefined | null) ?? {};
  return typeof observeHandle === 'function' ? observeHandle.call(intake) : undefined;
}
