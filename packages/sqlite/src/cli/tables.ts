import type { Connection } from '../file/connection.ts';
import { Kept } from '../tables/kept.ts';
import { Pauses } from '../tables/pauses.ts';
import { Pending } from '../tables/pending.ts';
import { Remembered } from '../tables/remembered.ts';
import { Shelf } from '../tables/shelf.ts';
import { Totals } from '../tables/totals.ts';

/** The file, as the commands see it. */
export interface Inside {
  readonly connection: Connection;
  readonly totals: Totals;
  readonly shelf: Shelf;
  readonly pending: Pending;
  readonly pauses: Pauses;
  readonly remembered: Remembered;
  readonly kept: Kept;
}

/** What a command says, to people and to programs; or, in a sentence, why it could not. */
export type Answer =
  | { readonly problem: string }
  | {
      readonly problem?: never;
      readonly text: string;
      readonly data: unknown;
      /** Whether something is left to do. */
      readonly isPartial?: boolean;
    };

export function insideOf(connection: Connection): Inside {
  const totals = new Totals(connection);
  const remembered = new Remembered(connection, totals);
  return {
    ...{ connection, totals, remembered },
    shelf: new Shelf(connection, totals),
    pending: new Pending(connection),
    pauses: new Pauses(connection),
    kept: new Kept(connection, totals, remembered),
  };
}
