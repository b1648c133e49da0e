import type { Connection } from '../connection/connection.ts';
import { CompletedIds } from '../finished/completed-ids.ts';
import { CompletedDeliveries } from '../finished/completed.ts';
import { DeadLetters } from '../finished/dead-letters.ts';
import { Pending } from '../queue/pending.ts';
import { Pauses } from '../tables/pauses.ts';
import { Totals } from '../tables/totals.ts';

/** The tables of an inbox's file that the commands read and change. */
export interface Tables {
  readonly connection: Connection;
  readonly totals: Totals;
  readonly deadLetters: DeadLetters;
  readonly pending: Pending;
  readonly pauses: Pauses;
  readonly completedIds: CompletedIds;
  readonly completed: CompletedDeliveries;
}

export function tablesOf(connection: Connection): Tables {
  const totals = new Totals(connection);
  const completedIds = new CompletedIds(connection, totals);
  return {
    ...{ connection, totals, completedIds },
    deadLetters: new DeadLetters(connection, totals),
    pending: new Pending(connection),
    pauses: new Pauses(connection),
    completed: new CompletedDeliveries(connection, totals, completedIds),
  };
}
