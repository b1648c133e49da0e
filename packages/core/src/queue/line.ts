import type { Favor } from '../delivery/favor.ts';
import type { Favored } from './favored-lines.ts';
import type { Turning } from './turns.ts';

/** What the fair queue needs of a delivery: its key, and room for the links of the queue. */
export interface Queued<T> {
  readonly key: string;
  /** Whether it may start out of turn while shedding. Default `none`. */
  readonly favor?: Favor;
  line: Line<T> | null;
  /** Its neighbors in the line of its key. */
  ahead: T | null;
  behind: T | null;
  /** Its neighbors among all queued deliveries, in the order of arrival. */
  older: T | null;
  younger: T | null;
}

/** The account that a key's turns are charged to. */
export interface Payer {
  /** What a turn costs, as a multiple of the usual one. */
  readonly cost: number;
  /** The virtual time up to which its turns are paid for. */
  paidTo: number;
  /** The line of its key, while there is one. */
  line: Line<unknown> | null;
}

/** The queued deliveries of one key, first in, first out. An empty line is forgotten. */
export class Line<T> implements Turning<Line<T>>, Favored {
  size = 0;
  /** How many of its deliveries hold a place of the reserve. */
  reserved = 0;
  /** And how many of these because they are entitled to it. */
  entitled = 0;
  first: T | null = null;
  last: T | null = null;
  /** See {@link Turning}. */
  turn = 0;
  previous: Line<T> = this;
  next: Line<T> = this;
  /** What its next turn costs, and the account that is charged. */
  cost = 1;
  payer: Payer | undefined;
  /** Its deliveries in turns at the usual cost. */
  work = 0;
  /** Whether its next delivery may start out of turn. */
  favor: Favor = 'none';
  /** Its key has as many workers as it may have, so the line has no turns. */
  isParked = false;
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}
