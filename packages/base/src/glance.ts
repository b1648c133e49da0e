/** The fields of a snapshot that cost little to read. */
export type GlanceField = 'state' | 'depth' | 'highWater' | 'concurrency' | 'drainRate';

/**
 * Reads an intake or inbox without the parts of a snapshot that cost more, and without starting the measurement of its
 * windows: for requests and probes. What is no intake or inbox of this package is asked for a snapshot.
 */
export function glanceAt<T extends object>(source: { snapshot(): T }): Pick<T, keyof T & GlanceField> {
  const { glance } = source as { glance?: () => T };
  return typeof glance === 'function' ? glance.call(source) : source.snapshot();
}
