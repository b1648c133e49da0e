import type { EventBody } from '../delivery/events.ts';
import type { Clock } from '@webhook-backpressure/base';

/** What an observation reads in an intake beside its events, and how it reports alarms. */
export interface ObserveHandle {
  readonly clock: Clock;
  /** The monotonic time of the intake, in milliseconds. */
  now(): number;
  isOpen(): boolean;
  /** Whether no delivery is queued or active. */
  isIdle(): boolean;
  /** How many deliveries are queued. */
  depth(): number;
  /** How long the workers have been stalled, in milliseconds; 0 if they are not. */
  stalledMs(nowMs: number): number;
  /** How many senders are close to disabling the endpoint. */
  endangered(nowMs: number): number;
  report(nowMs: number, event: EventBody): void;
}

/** The handle of an intake of this package; undefined for any other value. */
export function observeHandleOf(intake: unknown): ObserveHandle | undefined {
  // Not instanceof: an application may load this package twice, as ES module and as CommonJS.
  const { observeHandle } = (intake as { observeHandle?: () => ObserveHandle } | undefined | null) ?? {};
  return typeof observeHandle === 'function' ? observeHandle.call(intake) : undefined;
}
