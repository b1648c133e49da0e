import type { Turning } from './turns.ts';

/** What a delivery needs to stand in the {@link FairQueue}: its key, and room for the queue's own links. */
export interface Queued<T> {
  readonly key: string;
  /** False: its sender never tries again. */
  readonly isRepeated?: boolean;
  line: Line<T> | null;
  /** Its neighbours in the line of its key. */
  ahead: T | null;
  behind: T | null;
  /** Its neighbours among all that wait, in the order of arrival. */
  older: T | null;
  younger: T | null;
}

/** Who pays for the turns of a key. */
export interface Payer {
  /** What a turn costs, as a multiple of the usual one. */
  readonly cost: number;
  /** The virtual time up to which its turns are paid for. */
  paidTo: number;
  /** The line of its key, while something waits in it. */
  line: Line<unknown> | null;
}

/** The deliveries of one key, first in, first out. It exists only while something waits in it. */
export class Line<T> implements Turning<Line<T>> {
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
  /** What its next turn costs, and who pays for it. */
  cost = 1;
  payer: Payer | undefined;
  /** What waits in it, in turns at the usual cost. */
  work = 0;
  /** Its key has as many workers as it may have, so it has no turn. */
  isParked = false;
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}
