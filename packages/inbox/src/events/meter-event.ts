import type { EventBody, Monitor } from '@webhook-backpressure/core/extend';
import type { InboxEvent } from './inbox-events.ts';

/**
 * Counts an event in the windows of an inbox. What arrives is counted when it is decided: requests that no verified sender
 * has made are not deliveries.
 *
 * @param isDryRun - a refusal is only reported, and the delivery is counted when it is stored.
 */
export function meterEvent(
  monitor: Monitor,
  event: EventBody<InboxEvent>,
  isDryRun: boolean,
  nowMs: number,
): void {
  switch (event.type) {
    case 'stored':
    case 'overflow':
    case 'duplicate':
    case 'conflict':
      monitor.arrived(event.key, event.sender, nowMs);
      if (event.type === 'overflow') monitor.lost('dead', nowMs);
      break;
    case 'refused':
      if (!isDryRun) monitor.arrived(event.key, event.sender, nowMs);
      monitor.refused(event.key, event.sender, event.retryAfterSeconds, nowMs);
      if (event.lossRisk) monitor.lost('lossRisk', nowMs);
      break;
    case 'started':
      // Later attempts have waited for their retry, which says nothing about the workers.
      if (event.attempt === 1) monitor.started(event.key, event.sender, event.waitedMs, nowMs);
      break;
    case 'completed':
      monitor.ended(event.key, event.sender, true, event.tookMs, nowMs);
      monitor.moved(nowMs);
      break;
    case 'failed':
    case 'shelf-full':
    case 'dead':
      monitor.ended(event.key, event.sender, false, event.tookMs, nowMs);
      if (event.type === 'dead') monitor.lost('dead', nowMs);
      monitor.moved(nowMs);
      break;
    case 'store-failed':
      monitor.wake(nowMs);
      break;
    default:
  }
}
