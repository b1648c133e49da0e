import type { IntakeEvent } from '@webhook-backpressure/core';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { Monitor } from './alarms/monitor.ts';

/**
 * Counts the events of an intake in its windows.
 *
 * @param admitted - the number of its latest admission.
 */
export function intakeCounter(monitor: Monitor, admitted: number): (event: IntakeEvent) => void {
  let latest = admitted;
  /** Counts the arrival of a delivery, unless an earlier event of it, or one before the observation, has. */
  const arrived = ({
    key,
    sender,
    sequence,
    at,
  }: Extract<IntakeEvent, { type: 'queued' | 'started' }>): void => {
    if (sequence <= latest) return;
    latest = sequence;
    monitor.arrived(key, sender, at);
  };
  return (event) => {
    switch (event.type) {
      case 'refused':
        monitor.arrived(event.key, event.sender, event.at);
        monitor.refused(event.key, event.sender, event.retryAfterSeconds, event.at);
        if (event.lossRisk) monitor.lost('lossRisk', event.at);
        break;
      case 'queued':
        arrived(event);
        break;
      case 'started':
        arrived(event);
        monitor.started(event.key, event.sender, event.waitedMs, event.at);
        break;
      case 'withdrawn':
        monitor.moved(event.at);
        // No one gets the answer to an abandoned delivery.
        if (event.lossRisk && event.cause !== 'abandoned') monitor.lost('lossRisk', event.at);
        break;
      case 'completed':
        monitor.ended(event.key, event.sender, event.outcome === 'success', event.tookMs, event.at);
        break;
      case 'closed':
        monitor.end(event.at);
        break;
      default:
    }
  };
}

/**
 * Counts the events of an inbox in its windows. What arrives is counted when it is decided: requests that no verified sender
 * has made are not deliveries.
 *
 * @param isDryRun - a refusal is only reported, and the delivery is counted when it is stored.
 */
export function inboxCounter(monitor: Monitor, isDryRun: boolean): (event: InboxEvent) => void {
  return (event) => {
    switch (event.type) {
      case 'stored':
      case 'overflow':
      case 'duplicate':
      case 'conflict':
        monitor.arrived(event.key, event.sender, event.at);
        if (event.type === 'overflow') monitor.lost('dead', event.at);
        break;
      case 'refused':
        if (!isDryRun) monitor.arrived(event.key, event.sender, event.at);
        monitor.refused(event.key, event.sender, event.retryAfterSeconds, event.at);
        if (event.lossRisk) monitor.lost('lossRisk', event.at);
        break;
      case 'started':
        // Later attempts have waited for their retry, which says nothing about the workers.
        if (event.attempt === 1) monitor.started(event.key, event.sender, event.waitedMs, event.at);
        break;
      case 'completed':
        monitor.ended(event.key, event.sender, true, event.tookMs, event.at);
        monitor.moved(event.at);
        break;
      case 'failed':
      case 'dead-letters-full':
      case 'dead':
        monitor.ended(event.key, event.sender, false, event.tookMs, event.at);
        if (event.type === 'dead') monitor.lost('dead', event.at);
        monitor.moved(event.at);
        break;
      case 'store-failed':
        monitor.wake(event.at);
        break;
      case 'closed':
        monitor.end(event.at);
        break;
      default:
    }
  };
}
