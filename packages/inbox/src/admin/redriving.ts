import type { Scheduler } from '../time/scheduler.ts';
import type { Batches } from './batches.ts';
import type { RedriveOptions } from './call-options.ts';
import { MovePace } from './move-pace.ts';
import type { InboxSettings } from '../options/inbox-settings.ts';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { FinishedKind, FinishedUsage } from '../capacity/finished-usage.ts';
import { callObserver } from '../events/call-observer.ts';
import { PartSize } from '../store-calls/part-size.ts';
import { nextTurn } from '../store-calls/next-turn.ts';

/** The most bytes of a delivery beside its body. */
const HEADER_BYTES = 65_536;
/** The delay until the next check while there is no room. */
const RECHECK_MS = 250;

/** The reports of {@link Redriving}. */
interface RedriveReport {
  emit(
    event:
      | {
          readonly type: 'redriving';
          readonly redriven: number;
          readonly remaining: number;
          readonly isWaiting: boolean;
        }
      | { readonly type: 'redriven'; readonly count: number },
  ): void;
}

export interface RedrivingParts {
  readonly scheduler: Scheduler;
  readonly level: Pick<FillLevel, 'room' | 'depth' | 'bytes' | 'add'>;
  readonly report: RedriveReport;
  readonly finished: FinishedUsage;
  readonly settings: () => Pick<InboxSettings, 'maxBodyBytes' | 'maxBytes'>;
  readonly now: () => number;
  /** Recalculates the marks, and whether the inbox sheds. */
  readonly judge: () => void;
  /** Called when more deliveries may be claimed than before. */
  readonly restored: () => void;
}

/**
 * Puts dead letters or kept deliveries back among the unfinished ones, in small batches and only into the room below a
 * mark, so that no new delivery is refused because of old ones.
 */
export class Redriving {
  readonly #parts: RedrivingParts;
  #last: Promise<unknown> = Promise.resolve();
  #hasEnded = false;
  #moving = 0;

  constructor(parts: RedrivingParts) {
    this.#parts = parts;
  }

  /** Whether a batch is being moved, so that the store and the level may differ. */
  get isBusy(): boolean {
    return this.#moving > 0;
  }

  /** Starts no further batch. Resolves when the current one has ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#last;
  }

  /**
   * Puts deliveries back. Stops at the low-water mark, or at the high-water mark. Resolves to how many were put back, when
   * all were, or the signal was aborted, or the inbox closes.
   */
  async run(
    batches: Batches,
    { kind, mark }: { readonly kind: FinishedKind; readonly mark: 'low' | 'high' },
    { perSecond, signal, onProgress }: RedriveOptions,
  ): Promise<number> {
    const { scheduler, report, now } = this.#parts;
    const size = new PartSize();
    const pace = new MovePace(perSecond, now);
    let moved = 0;
    let wasWaiting = false;
    const reportProgress = (isWaiting: boolean): void => {
      if (isWaiting && wasWaiting) return;
      wasWaiting = isWaiting;
      const { remaining, looked, total } = batches;
      const progress = { redriven: moved, remaining, isWaiting };
      report.emit({ type: 'redriving', ...progress });
      callObserver(() => onProgress?.({ ...progress, moved, looked, total }));
    };
    while (!batches.isDone && !this.#hasEnded && signal?.aborted !== true) {
      if (pace.waitMs > 0) {
        await scheduler.hold(Math.min(pace.waitMs, RECHECK_MS));
        continue;
      }
      const part = await this.#oneAtATime(() => this.#moveBatch(batches, size, pace.most, mark, kind));
      if (part === undefined) {
        reportProgress(true);
        await scheduler.hold(RECHECK_MS);
        continue;
      }
      moved += part;
      pace.note(part);
      reportProgress(false);
      await nextTurn();
    }
    if (moved > 0) report.emit({ type: 'redriven', count: moved });
    return moved;
  }

  /** @returns how many were moved, or undefined when there is no room. */
  async #moveBatch(
    batches: Batches,
    size: PartSize,
    most: number,
    mark: 'low' | 'high',
    kind: FinishedKind,
  ): Promise<number | undefined> {
    const { level, finished, now, judge, restored } = this.#parts;
    if (this.#hasEnded) return 0;
    judge();
    const room = level.room(mark);
    if (room.count < 1 || room.bytes < 1 || !this.#fitsAny) return undefined;
    const startedMs = now();
    this.#moving += 1;
    try {
      const moved = await batches.next({
        limit: Math.min(size.count, most, room.count),
        maxBytes: room.bytes,
      });
      if (moved.length > 0) size.note(now() - startedMs);
      finished.remove(kind, moved);
      for (const one of moved) level.add(one);
      return moved.length;
    } finally {
      this.#moving -= 1;
      judge();
      restored();
    }
  }

  /** Whether even the largest delivery fits, because the first one of a batch may be of any size. */
  get #fitsAny(): boolean {
    const { level, settings } = this.#parts;
    const { maxBodyBytes, maxBytes } = settings();
    return level.depth === 0 || level.bytes + maxBodyBytes + HEADER_BYTES <= maxBytes;
  }

  /** Moves one batch at a time, because two would both use the same room. */
  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }
}
