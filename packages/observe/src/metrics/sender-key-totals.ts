import type { SenderEvent } from '../outbox/sender-events.ts';
import type { CountsByKey, Writable } from './key-totals.ts';
import type { ReadableSender } from './sender-metrics.ts';

type KeyTotals = Writable<ReadableSender['keyTotals']>;

/** Counts the totals of a sender for each endpoint, from its events. */
export class SenderCountsByKey implements CountsByKey<ReadableSender> {
  readonly labels = ['endpoint'] as const;
  readonly events: ReadonlySet<SenderEvent['type']> = new Set([
    ...(['accepted', 'duplicate', 'conflict', 'started', 'delivered', 'limited', 'failed', 'dead'] as const),
  ]);

  create(): KeyTotals {
    return { accepted: 0, duplicate: 0, attempts: 0, delivered: 0, limited: 0, dead: 0 };
  }

  add(event: SenderEvent, totals: KeyTotals): void {
    switch (event.type) {
      case 'accepted':
      case 'duplicate':
        totals[event.type] += 1;
        break;
      case 'conflict':
        totals.duplicate += 1;
        break;
      case 'started':
        totals.attempts += 1;
        break;
      case 'limited':
        totals.limited += 1;
        break;
      case 'delivered':
      case 'dead':
        totals[event.type] += event.events;
        break;
      default:
    }
  }
}
