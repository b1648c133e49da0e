import { noRefusals } from '@webhook-backpressure/core/extend';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { ReadableInbox } from './inbox-metrics.ts';
import { KEY_AND_SENDER, type CountsByKey, type Writable } from './key-totals.ts';

type KeyTotals = Writable<ReadableInbox['keyTotals']>;

/** Counts the totals of an inbox for each key, from its events. */
export class InboxCountsByKey implements CountsByKey<ReadableInbox> {
  readonly labels: typeof KEY_AND_SENDER = KEY_AND_SENDER;
  readonly events: ReadonlySet<InboxEvent['type']> = new Set([
    ...(['stored', 'duplicate', 'refused', 'started', 'completed', 'failed', 'shelf-full', 'dead'] as const),
  ]);

  create(): KeyTotals {
    return {
      ...{ stored: 0, duplicate: 0, completed: 0, failed: 0, dead: 0 },
      refusedByStatus: { 429: noRefusals(), 503: noRefusals() },
    };
  }

  add(event: InboxEvent, totals: KeyTotals): void {
    switch (event.type) {
      case 'stored':
      case 'duplicate':
      case 'completed':
        totals[event.type] += 1;
        break;
      case 'refused':
        totals.refusedByStatus[event.status][event.reason] += 1;
        break;
      case 'dead':
        totals.dead += 1;
        totals.failed += 1;
        break;
      case 'failed':
      case 'shelf-full':
        totals.failed += 1;
        break;
      default:
    }
  }
}
