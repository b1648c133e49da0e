import { holdsShare } from './equal-share.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Queued } from './line.ts';

/**
 * Which delivery gives up its place to a newer one of `key`: the oldest of all; or, when the key holds its share of
 * the queue or more, the oldest of its own, so that a noisy key does not drain the others.
 */
export function displacedBy<T extends Queued<T>>(key: string, queue: FairQueue<T>): T | null {
  const line = holdsShare(key, queue) ? queue.lineOf(key) : undefined;
  return line === undefined ? queue.oldest : line.first;
}
