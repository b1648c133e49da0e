import type { FinishedUsage } from '../capacity/finished-usage.ts';
import { callObserver } from '../events/call-observer.ts';
import { nextTurn } from '../store-calls/next-turn.ts';
import { PART_BYTES, PartSize } from '../store-calls/part-size.ts';
import type { Scheduler } from '../time/scheduler.ts';
import type { Batches } from './batches.ts';
import type { MoveOptions } from './call-options.ts';
import { MovePace } from './move-pace.ts';

/** How often a purge that waits for its rate looks at its signal. */
const RECHECK_MS = 250;

interface PurgeParts {
  readonly finished: FinishedUsage;
  readonly scheduler: Pick<Scheduler, 'hold'>;
  readonly now: () => number;
}

/** Deletes dead letters in batches. Resolves to how many. */
export async function purgeAll(
  batches: Batches,
  { perSecond, signal, onProgress }: MoveOptions,
  { finished, scheduler, now }: PurgeParts,
): Promise<number> {
  const size = new PartSize();
  const pace = new MovePace(perSecond, now);
  let moved = 0;
  while (!batches.isDone && signal?.aborted !== true) {
    if (pace.waitMs > 0) {
      await scheduler.hold(Math.min(pace.waitMs, RECHECK_MS));
      continue;
    }
    const startedMs = now();
    const purged = await batches.next({ limit: Math.min(size.count, pace.most), maxBytes: PART_BYTES });
    if (purged.length > 0) size.note(now() - startedMs);
    finished.remove('deadLetters', purged);
    moved += purged.length;
    pace.note(purged.length);
    const { looked, total } = batches;
    callObserver(() => onProgress?.({ moved, looked, total }));
    await nextTurn();
  }
  return moved;
}
