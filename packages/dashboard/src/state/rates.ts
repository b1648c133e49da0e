import type { InboxSnapshot } from '@webhook-backpressure/inbox';
import type { IntakeSnapshot } from '@webhook-backpressure/core';
import type { SenderSnapshot } from '@webhook-backpressure/observe';
import type { SenderRates } from './page-state.ts';

/** Totals of which the page shows how many there were per second. */
export type Counts<R> = { readonly [name in keyof R]: number };

/** What an intake has counted since it was created. */
export function intakeCounts({ totals }: IntakeSnapshot): {
  arrivals: number;
  started: number;
  completed: number;
  refused: number;
} {
  const { arrivals, started, completed } = totals;
  return { arrivals, started, completed, refused: sum(totals.refused) };
}

/** What an inbox has counted since it was created. */
export function inboxCounts({ totals }: InboxSnapshot): {
  arrivals: number;
  stored: number;
  completed: number;
  refused: number;
} {
  const { arrivals, stored, completed } = totals;
  return { arrivals, stored, completed, refused: sum(totals.refused) };
}

/** The counts of a sender since it was created. */
export function senderCounts({ totals }: SenderSnapshot): SenderRates {
  const { accepted, attempts, delivered, limited, failed } = totals;
  return { accepted, attempts, delivered, limited, failed };
}

/** The counts per second between two readings. */
export function ratesBetween<R extends Counts<R>>(before: R, after: R, elapsedMs: number): R {
  const perSecond = elapsedMs > 0 ? 1000 / elapsedMs : 0;
  const rates = Object.entries<number>(after).map(([name, count]) => {
    const earlier = (before as Record<string, number>)[name] as number;
    return [name, Math.round(Math.max(0, count - earlier) * perSecond * 100) / 100];
  });
  return Object.fromEntries(rates) as R;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
