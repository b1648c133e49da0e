import { holdsShare } from './equal-share.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Queued } from './line.ts';

/**
 * The delivery that a newer one of `key` displaces: the oldest of all, or the oldest of the key if it holds an equal
 * share of the queue or more, so that a noisy key does not displace the others.
 */
export function displacedBy<T extends Queued<T>>(key: string, queue: FairQueue<T>): T | null {
  const line = holdsShare(key, queue) ? queue.lineOf(key) : undefined;
  return line === undefined ? queue.oldest : line.first;
}
