import type { Signal } from '../../base/abort.ts';
import type { Agenda } from '../keeping/agenda.ts';
import type { RedriveProgress } from '../delivery/dead-letter-types.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { InboxSettings } from '../settings/inbox-settings.ts';
import type { Level } from '../keeping/level.ts';
import { tell } from '../report/onlooker.ts';
import { PartSize } from '../store/part-size.ts';
import type { MovedDelivery } from '../store/store-admin.ts';
import type { Awaitable } from '../delivery/stored-delivery.ts';
import { nextTurn } from '../store/turn.ts';

/** What a delivery may have beside its body, at the most. */
const HEADER_BYTES = 65_536;
/** While there is no room, it is looked for again after this. */
const LOOK_AGAIN_MS = 250;

/** What putting deliveries back asks of the inbox around it. */
export interface RedrivingParts {
  readonly agenda: Agenda;
  readonly level: Level;
  readonly report: InboxReport;
  readonly settings: () => InboxSettings;
  readonly now: () => number;
  /** Moves the marks to where they belong now. */
  readonly judge: () => void;
  /** Something can be claimed that could not be before. */
  readonly restored: () => void;
}

/** What is to be put back. */
export interface Redrive {
  /** How many there were when it was asked for; what is added meanwhile is none of its business. */
  readonly total: number;
  /** Up to which mark: many stop at the low-water mark, a single one at the high-water mark. */
  readonly mark: 'low' | 'high';
  /** Moves the oldest: up to `limit`, and of those as many as together have `maxBytes`; the first in any case. */
  readonly move: (part: {
    readonly limit: number;
    readonly maxBytes: number;
  }) => Awaitable<readonly MovedDelivery[]>;
  readonly signal: Signal | undefined;
  readonly onProgress: ((progress: RedriveProgress) => unknown) | undefined;
}

/**
 * Puts deliveries back among the unfinished, in small parts, and only into the room below a mark: fresh deliveries must
 * not be refused because old ones return.
 */
export class Redriving {
  readonly #parts: RedrivingParts;
  #last: Promise<unknown> = Promise.resolve();
  #hasEnded = false;
  #underWay = 0;

  constructor(parts: RedrivingParts) {
    this.#parts = parts;
  }

  /** Whether the store and the level may differ, since a part is under way. */
  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  /** Starts no further part. Resolves when the part that is under way has ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#last;
  }

  /** Resolves with how many were put back when that is all, or the signal was aborted, or the inbox closes. */
  async run({ total, mark, move, signal, onProgress }: Redrive): Promise<number> {
    const { agenda, report } = this.#parts;
    const size = new PartSize();
    let redriven = 0;
    let wasWaiting = false;
    const say = (isWaiting: boolean): void => {
      if (isWaiting && wasWaiting) return;
      wasWaiting = isWaiting;
      const progress = { redriven, remaining: Math.max(0, total - redriven), isWaiting };
      report.emit({ type: 'redriving', ...progress });
      tell(() => onProgress?.(progress));
    };
    while (redriven < total && !this.#hasEnded && signal?.aborted !== true) {
      const moved = await this.#inTurn(() => this.#part(total - redriven, size, mark, move));
      if (moved === undefined) {
        say(true);
        await agenda.hold(LOOK_AGAIN_MS);
        continue;
      }
      if (moved === 0) break;
      redriven += moved;
      say(false);
      await nextTurn();
    }
    if (redriven > 0) report.emit({ type: 'redriven', count: redriven });
    return redriven;
  }

  /** @returns how many, or undefined when there is no room. */
  async #part(
    remaining: number,
    size: PartSize,
    mark: Redrive['mark'],
    move: Redrive['move'],
  ): Promise<number | undefined> {
    const { level, now, judge, restored } = this.#parts;
    if (this.#hasEnded) return 0;
    judge();
    const room = level.room(mark);
    if (room.count < 1 || room.bytes < 1 || !this.#fitsAny) return undefined;
    const startedMs = now();
    this.#underWay += 1;
    try {
      const moved = await move({ limit: Math.min(remaining, size.count, room.count), maxBytes: room.bytes });
      size.note(now() - startedMs);
      for (const one of moved) level.add(one);
      return moved.length;
    } finally {
      this.#underWay -= 1;
      judge();
      restored();
    }
  }

  /** The first one of a part may be of any size: even the largest must not reach the limit in bytes. */
  get #fitsAny(): boolean {
    const { level, settings } = this.#parts;
    const { maxBodyBytes, maxBytes } = settings();
    return level.depth === 0 || level.bytes + maxBodyBytes + HEADER_BYTES <= maxBytes;
  }

  /** One part at a time: two that are under way together would both use the same room. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }
}
