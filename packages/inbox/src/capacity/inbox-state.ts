import { type Clock, monotonic } from '@webhook-backpressure/base';
import type { Encryption } from '../encryption/encryption.ts';
import { InboxReport } from '../events/inbox-report.ts';
import type { InboxFixtures, InboxSettings } from '../options/inbox-settings.ts';
import type { InboxRole } from '../options/roles.ts';
import { MAX_RECEIVING_DELAY_MS, StoreHealth } from '../store-calls/store-health.ts';
import { asInboxStore, isInboxStore } from '../store/as-inbox-store.ts';
import type { InboxStore, StoreStats } from '../store/inbox-store.ts';
import type { ReceivingStore } from '../store/receiving-store.ts';
import { Scheduler } from '../time/scheduler.ts';
import { WallTime } from '../time/wall-time.ts';
import { StoreDrainRate, type DrainReading } from './drain-rate.ts';
import { FillLevel } from './fill-level.ts';
import { FinishedUsage } from './finished-usage.ts';

/** After this time without a sign of another process, the own counts are exact again. */
const SHARED_MS = 60_000;

/** What the receiver and the workers of an inbox share: its options, its clocks, its store, and how full it is. */
export class InboxState {
  phase: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  /** Whether the timeout of `close()` has passed. */
  isOutOfTime = false;
  settings: InboxSettings;
  /** The totals of the store, as last read; undefined until it is open. */
  stats: StoreStats | undefined;
  /** The rate of the own workers, which set it. */
  ownRate!: DrainReading;
  readonly fixtures: InboxFixtures;
  readonly role: InboxRole;
  readonly clock: Clock;
  readonly random: () => number;
  readonly encryption: Encryption;
  readonly now: () => number;
  readonly wall: WallTime;
  readonly report: InboxReport;
  readonly scheduler: Scheduler;
  readonly store: InboxStore;
  /** Whether the store has the calls of workers and operators too. */
  readonly hasAllCalls: boolean;
  readonly health: StoreHealth;
  /** Separate from the other: when claims fail and puts succeed, or the reverse, neither must report that the store works. */
  readonly receivingHealth: StoreHealth;
  readonly level: FillLevel = new FillLevel();
  readonly finished: FinishedUsage = new FinishedUsage(() => this.settings);
  /** The rate of all workers on the store. */
  readonly storeRate: StoreDrainRate = new StoreDrainRate();
  #sharedUntilMs = -Infinity;

  constructor(store: ReceivingStore, settings: InboxSettings, fixtures: InboxFixtures) {
    const { role, clock, random, encryption } = fixtures;
    this.settings = settings;
    this.fixtures = fixtures;
    this.role = role;
    this.clock = clock;
    this.random = random;
    this.encryption = encryption;
    this.store = asInboxStore(store);
    this.hasAllCalls = isInboxStore(store);
    this.now = monotonic(clock);
    this.wall = new WallTime(fixtures.wallClock, this.now);
    this.report = new InboxReport(this.now);
    this.scheduler = new Scheduler(clock, this.now);
    if (role === 'worker') this.scheduler.keepAlive();
    // Without workers, the reading of the level has to find out quickly that the store works again.
    const maxDelayMs = role === 'receiver' ? MAX_RECEIVING_DELAY_MS : undefined;
    this.health = new StoreHealth(this.scheduler, this.report, maxDelayMs);
    this.receivingHealth = new StoreHealth(this.scheduler, this.report, MAX_RECEIVING_DELAY_MS);
  }

  /** Whether other processes use the store. */
  get isShared(): boolean {
    return this.role !== 'both' || this.now() < this.#sharedUntilMs;
  }

  /** There is a sign of another process: it has stored or finished deliveries. */
  noteOthers(): void {
    this.#sharedUntilMs = this.now() + SHARED_MS;
  }

  /** The rate of the own workers, or of all workers on the store while others use it too. */
  get rate(): DrainReading {
    return this.isShared ? this.storeRate : this.ownRate;
  }

  /** Deliveries per second; null while unknown. */
  get drainRate(): number | null {
    // Until the store's rate is known, the own one is a lower bound of it.
    return this.rate.perSecond ?? this.ownRate.perSecond;
  }

  /** Adopts the totals of the store, except for the level. */
  learn(stats: StoreStats): void {
    this.stats = stats;
    this.finished.learn(stats);
  }

  /** Recalculates the marks. */
  resize(): void {
    this.level.resize(this.settings, this.drainRate);
  }

  /** Recalculates the marks, and whether the inbox sheds. */
  judge(): void {
    this.resize();
    if (!this.level.judge()) return;
    const { shedding, depth, bytes } = this.level;
    this.report.emit({ type: shedding ? 'shedding' : 'accepting', depth, bytes });
  }
}
