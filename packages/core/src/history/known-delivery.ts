/** What is known of a delivery. Positions are indices of events. */
export interface Known {
  readonly key: string;
  readonly id: string;
  /** When it was first promised to its sender or committed. */
  promisedAt: number | undefined;
  /** Its place in the line of its key. Undefined: it was not stored. */
  place: number | undefined;
  /** While it counts against `capacity`. */
  isOpen: boolean;
  /** When it was stored or redriven. */
  openedAt: number;
  finished: { readonly as: 'completed' | 'dead'; readonly at: number; readonly worker: string } | undefined;
  pendingAt: number | undefined;
  /** The runs that are not over: the worker, and when they began. */
  readonly runs: Map<string, number>;
}

/** Its name at the beginning of a sentence. */
export function nameOf({ key, id }: Known): string {
  return key === '' ? `Delivery ${id}` : `Delivery ${id} of the key ${key}`;
}

/** A delivery of which nothing is known yet. */
export function newDelivery(key: string, id: string): Known {
  const none = { promisedAt: undefined, place: undefined, finished: undefined, pendingAt: undefined };
  return { key, id, ...none, isOpen: false, openedAt: 0, runs: new Map<string, number>() };
}
