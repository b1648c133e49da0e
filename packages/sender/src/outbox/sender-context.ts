import { type Buckets, LocalBuckets } from '@webhook-backpressure/fleet';
import type { InboxStore } from '@webhook-backpressure/inbox';
import {
  FinishedUsage,
  MAX_RECEIVING_DELAY_MS,
  Scheduler,
  StoreHealth,
  WallTime,
} from '@webhook-backpressure/inbox/store';
import { monotonic } from '@webhook-backpressure/base';
import type { SenderSettings } from '../options/sender-options.ts';
import { OutboxReport } from './sender-report.ts';
import { OutboxLevel } from './outbox-level.ts';

/** The most ids of delivered events that are remembered. */
const MAX_REMEMBERED = 1_000_000;

/** The limits of what is kept of finished events, as an inbox names them. */
interface FinishedLimits {
  readonly maxDeadLetters: number;
  readonly maxDeadLetterBytes: number;
  readonly maxDeadLetterAgeMs: undefined;
  readonly keepCompletedMs: number;
  readonly maxKeptBytes: number;
  readonly retentionMs: number;
  readonly maxRemembered: number;
}

/** The state of one sender that all of its classes use: options, clocks, counts, and the health of its store. */
export class SenderContext {
  phase: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  /** Whether the timeout of `close()` has passed. */
  isOutOfTime = false;
  /** Whether other processes use the store, as far as is known. */
  isShared = false;
  /** When the oldest unfinished event was sent, by the last counts of the store. */
  oldestReceivedAtMs: number | undefined;
  readonly settings: SenderSettings;
  readonly store: InboxStore;
  readonly buckets: Buckets;
  /** The monotonic clock. */
  readonly now: () => number;
  readonly wall: WallTime;
  /** The wall clock without sudden steps. */
  readonly wallMs: () => number;
  readonly scheduler: Scheduler;
  readonly report: OutboxReport;
  /** Two healths: when claims fail and puts succeed, or the reverse, neither must report that the store works. */
  readonly health: StoreHealth;
  readonly sendingHealth: StoreHealth;
  readonly level: OutboxLevel;
  readonly finishedLimits: FinishedLimits;
  readonly finished: FinishedUsage;

  constructor(settings: SenderSettings) {
    const now = monotonic(settings.clock);
    const wall = new WallTime(settings.wallClock, now);
    this.settings = settings;
    this.store = settings.store;
    this.buckets = settings.buckets ?? new LocalBuckets();
    this.now = now;
    this.wall = wall;
    this.wallMs = () => wall.trustedMs();
    this.scheduler = new Scheduler(settings.clock, now);
    this.report = new OutboxReport(now);
    this.health = new StoreHealth(this.scheduler, this.report);
    this.sendingHealth = new StoreHealth(this.scheduler, this.report, MAX_RECEIVING_DELAY_MS);
    this.level = new OutboxLevel(settings);
    const { maxDeadLetters, maxBytes, retentionMs } = settings;
    this.finishedLimits = {
      maxDeadLetters,
      maxDeadLetterBytes: maxBytes,
      maxDeadLetterAgeMs: undefined,
      keepCompletedMs: 0,
      maxKeptBytes: 0,
      retentionMs,
      maxRemembered: MAX_REMEMBERED,
    };
    this.finished = new FinishedUsage(() => this.finishedLimits);
  }

  /** Whether events are accepted. */
  get isAccepting(): boolean {
    return this.phase === 'opening' || this.phase === 'open';
  }
}
