import type { Scheduler } from '../time/scheduler.ts';
import { checkedRedrive, idOrAll, type RedriveOptions } from './call-options.ts';
import type { InboxSettings } from '../options/inbox-settings.ts';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { FinishedKind, FinishedUsage } from '../capacity/finished-usage.ts';
import { callObserver } from '../events/call-observer.ts';
import { PartSize } from '../store-calls/part-size.ts';
import type { Counted, MovedDelivery, Portion, DeadLetterFilter } from '../store/store-admin.ts';
import type { Awaitable } from '../delivery/stored-delivery.ts';
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
  readonly wallMs: () => number;
  /** Recalculates the marks, and whether the inbox sheds. */
  readonly judge: () => void;
  /** Called when more deliveries may be claimed than before. */
  readonly restored: () => void;
}

type Part = Portion & { readonly key: string | undefined; readonly nowMs: number; readonly upTo: number };

/** The calls of the store that put one kind of finished deliveries back. */
export interface RedriveCalls {
  readonly kind: FinishedKind;
  readonly count: (id: string | null, scope: DeadLetterFilter) => Awaitable<Counted>;
  readonly move: (id: string | null, part: Part) => Awaitable<readonly MovedDelivery[]>;
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
   * Puts back the deliveries of this id, or with `all` every one at the time of the call. Many stop at the low-water mark, a
   * single one at the high-water mark. Resolves to how many were put back, when all were, or the signal was aborted, or
   * the inbox closes.
   */
  async run(id: string, options: RedriveOptions, { kind, count, move }: RedriveCalls): Promise<number> {
    const { scheduler, report, finished, wallMs } = this.#parts;
    const which = idOrAll(id);
    const { key, signal, onProgress } = checkedRedrive(options);
    // Later deliveries are not put back.
    const { count: total, upTo } = await count(which, { key });
    const mark = which === null ? 'low' : 'high';
    const moveBatch = async (portion: Portion): Promise<readonly MovedDelivery[]> => {
      const moved = await move(which, { ...portion, key, upTo, nowMs: wallMs() });
      finished.remove(kind, moved);
      return moved;
    };
    const size = new PartSize();
    let redriven = 0;
    let wasWaiting = false;
    const reportProgress = (isWaiting: boolean): void => {
      if (isWaiting && wasWaiting) return;
      wasWaiting = isWaiting;
      const progress = { redriven, remaining: Math.max(0, total - redriven), isWaiting };
      report.emit({ type: 'redriving', ...progress });
      callObserver(() => onProgress?.(progress));
    };
    while (redriven < total && !this.#hasEnded && signal?.aborted !== true) {
      const moved = await this.#oneAtATime(() => this.#moveBatch(total - redriven, size, mark, moveBatch));
      if (moved === undefined) {
        reportProgress(true);
        await scheduler.hold(RECHECK_MS);
        continue;
      }
      if (moved === 0) break;
      redriven += moved;
      reportProgress(false);
      await nextTurn();
    }
    if (redriven > 0) report.emit({ type: 'redriven', count: redriven });
    return redriven;
  }

  /** @returns how many were moved, or undefined when there is no room. */
  async #moveBatch(
    remaining: number,
    size: PartSize,
    mark: 'low' | 'high',
    move: (portion: Portion) => Promise<readonly MovedDelivery[]>,
  ): Promise<number | undefined> {
    const { level, now, judge, restored } = this.#parts;
    if (this.#hasEnded) return 0;
    judge();
    const room = level.room(mark);
    if (room.count < 1 || room.bytes < 1 || !this.#fitsAny) return undefined;
    const startedMs = now();
    this.#moving += 1;
    try {
      const moved = await move({ limit: Math.min(remaining, size.count, room.count), maxBytes: room.bytes });
      size.note(now() - startedMs);
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
