/** An intake or inbox, or anything of a user that looks like one. */
interface Readable<T> {
  snapshot(): T;
}

/**
 * Reads an intake or inbox without the parts of a snapshot that cost more, and without starting the measurement of its
 * windows: for requests and probes. What is no intake or inbox of this package is asked for a snapshot.
 */
export function glanceAt<T extends object>(source: Readable<T>): T {
  const { glance } = source as { glance?: () => T };
  return typeof glance === 'function' ? glance.call(source) : source.snapshot();
}
