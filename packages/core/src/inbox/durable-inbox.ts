import { DAY_MS } from '../checks.ts';
import { monotonic } from '../time/clock.ts';
import { glanceAt, type GlanceField } from '../base/glance.ts';
import { BackpressureError, invalid } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import type { IntakeState } from '../delivery/snapshot.ts';
import { completed, type Completed } from './admin/completed.ts';
import { deadLetters, type DeadLetters } from './admin/dead-letters.ts';
import { pending, type Pending } from './admin/pending.ts';
import { Redriving } from './admin/redriving.ts';
import { FillLevel } from './capacity/fill-level.ts';
import { FinishedUsage } from './capacity/finished-usage.ts';
import { InboxDrainRate } from './capacity/inbox-drain-rate.ts';
import type { InboxListener } from './events/inbox-events.ts';
import { InboxReport } from './events/inbox-report.ts';
import { InboxMonitoring } from './inbox-monitoring.ts';
import { inboxSnapshot, type SnapshotParts } from './inbox-snapshot.ts';
import { shutDown } from './inbox-shutdown.ts';
import type { Inbox, InboxCloseReport, InboxSnapshot } from './inbox.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import { Retention } from './maintenance/retention.ts';
import { currentInboxOptions, type CurrentInboxOptions } from './options/current-inbox-options.ts';
import type { InboxTunable } from './options/inbox-options.ts';
import {
  resolveInboxOptions,
  updateInboxSettings,
  type AnyInboxOptions,
  type InboxSettings,
} from './options/inbox-settings.ts';
import type { InboxRole } from './options/roles.ts';
import type { InboxAnswer } from './receive/inbox-answers.ts';
import { InboxReceiver, type ReceiverParts } from './receive/inbox-receiver.ts';
import { InboxRefuser } from './receive/inbox-refuser.ts';
import type { InboxRequest } from './receive/inbox-request.ts';
import { MAX_RECEIVING_DELAY_MS, StoreHealth } from './store-calls/store-health.ts';
import { StoreOpening } from './store-calls/store-opening.ts';
import { asInboxStore } from './store/as-inbox-store.ts';
import type { OpenedStore, StoreStats } from './store/inbox-store.ts';
import { Scheduler } from './time/scheduler.ts';
import { WallTime } from './time/wall-time.ts';
import { InboxWorkers } from './work/inbox-workers.ts';
import { backstop, createWorkerIntake } from './worker-intake.ts';
import { Pauses } from './work/pauses.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/** An inbox: a receiver that fills the store, workers that empty it, and the level between them. */
export class DurableInbox implements Inbox {
  readonly pending: Pending;
  readonly deadLetters: DeadLetters;
  readonly completed: Completed;
  readonly pause: Inbox['pause'] = (...key) => this.#pauses.pause(...key);
  readonly resume: Inbox['resume'] = (...key) => this.#pauses.resume(...key);
  readonly #role: InboxRole;
  #settings: InboxSettings;
  #phase: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  readonly #now: () => number;
  readonly #wall: WallTime;
  readonly #report: InboxReport;
  readonly #level: FillLevel = new FillLevel();
  readonly #intake: Intake;
  readonly #inboxRate: InboxDrainRate;
  readonly #refuser: InboxRefuser;
  /** Undefined for workers without a receiver. */
  readonly #receiver: InboxReceiver | undefined;
  readonly #workers: InboxWorkers;
  readonly #maintenance: Maintenance;
  readonly #pauses: Pauses;
  readonly #finished: FinishedUsage;
  readonly #redriving: Redriving;
  readonly #shutDown: (timeoutMs: number) => Promise<InboxCloseReport>;
  readonly #isStoreFailing: () => boolean;
  readonly #monitoring: InboxMonitoring;
  readonly #parts: SnapshotParts;
  #options: CurrentInboxOptions;
  #stats: StoreStats | undefined;
  #closed: Promise<InboxCloseReport> | undefined;

  constructor(options: AnyInboxOptions, role: InboxRole) {
    const { settings, fixtures } = resolveInboxOptions(options, role);
    const store = asInboxStore(options.store);
    this.#role = role;
    this.#settings = settings;
    this.#options = currentInboxOptions(settings);
    const now = (this.#now = monotonic(fixtures.clock));
    const wall = (this.#wall = new WallTime(fixtures.wallClock, now));
    const wallMs = (): number => wall.trustedMs();
    const report = (this.#report = new InboxReport(now, fixtures.dryRun));
    const scheduler = new Scheduler(fixtures.clock, now);
    const health = new StoreHealth(scheduler, report);
    this.#intake = createWorkerIntake(fixtures, settings);
    this.#intake.subscribe(({ type }) => {
      if (type === 'stalled' || type === 'recovered') report.emit({ type });
    });
    const intake = this.#intake;
    const inboxRate = (this.#inboxRate = new InboxDrainRate(intake));
    const refuser = (this.#refuser = new InboxRefuser(fixtures.random, this.#level, inboxRate, report));
    const current = (): InboxSettings => this.#settings;
    const finished = (this.#finished = new FinishedUsage(current));
    const { encryption } = fixtures;
    const common = {
      ...{ store, health, scheduler, report, fixtures, encryption, now, wallMs, intake, inboxRate, finished },
      ...{ level: this.#level, settings: current, judge: this.#judge },
    };
    const { process = doNothing, onDead } = options;
    const workers = new InboxWorkers({ ...common, process, onDead, relieved: this.#judge });
    this.#workers = workers;
    this.#parts = { ...common, role, refuser, workers };
    const wake = (): void => {
      workers.claimer.wake();
    };
    // Two healths: when claims fail and puts succeed, or the reverse, neither must report that the store works.
    const receivingHealth = new StoreHealth(scheduler, report, MAX_RECEIVING_DELAY_MS);
    this.#isStoreFailing = () => !health.isWell || !receivingHealth.isWell;
    this.#monitoring = new InboxMonitoring({
      ...{ ...common, clock: fixtures.clock, refuser, healths: [health, receivingHealth] },
      oldestAgeMs: () => this.#oldestAgeMs,
    });
    const receiverParts: Omit<ReceiverParts, 'options'> = {
      ...{ ...common, refuser, health: receivingHealth },
      receivedAtMs: () => wall.rawMs(),
      isOpen: () => this.#phase === 'open' || this.#phase === 'opening',
      // A delivery that can be stored but not processed stays with the sender, which may use another receiver or alert.
      isReady: () => this.#phase !== 'opening' && !receivingHealth.isResting && !health.isStuck,
      stored: wake,
    };
    this.#receiver =
      options.verify === undefined ? undefined : new InboxReceiver({ ...receiverParts, options });
    this.#redriving = new Redriving({ ...common, restored: wake });
    const retention = new Retention({ ...common, agedMs: () => wall.agedMs() });
    this.#maintenance = new Maintenance({
      ...{ ...common, retention, learn: this.#learn },
      lowWater: () => this.#level.lowWaterMarks,
      isQuiet: () => !workers.isStoring && this.#receiver?.isStoring !== true && !this.#redriving.isBusy,
      maxRetryDelayMs: () => this.#settings.retry.maxDelayMs,
      learnKeys: (depthByKey) => {
        this.#level.correctKeys(depthByKey);
      },
      // Another process may have released deliveries, or stored some while its own workers are busy.
      wake,
    });
    this.#pauses = new Pauses({
      ...common,
      paused: (key) => {
        workers.giveBackWaiting(key);
      },
      // The workers claim what is due after it.
      changed: () => this.#maintenance.run(),
    });
    this.pending = pending(store, wallMs, encryption);
    this.deadLetters = deadLetters({ ...common, redriving: this.#redriving });
    this.completed = completed({ ...common, redriving: this.#redriving });
    const opening = new StoreOpening({
      ...common,
      isOrdered: fixtures.isOrdered,
      isWanted: () => this.#phase === 'opening',
      opened: this.#begin,
    });
    const parts = {
      ...{ ...common, opening, workers, receiver: this.#receiver },
      ...{ maintenance: this.#maintenance, redriving: this.#redriving },
    };
    this.#shutDown = (timeoutMs) => shutDown(parts, timeoutMs);
    this.#resizeLevel();
    store.watch?.((event) => {
      if (event.type === 'due') wake();
      else report.emit({ ...event, type: 'store-warning' });
    });
    opening.begin();
  }

  receive(request: InboxRequest): Promise<InboxAnswer | null> {
    if (this.#receiver === undefined) {
      const sentence = 'This inbox has workers only. Receive deliveries with webhookInbox().';
      return Promise.reject(new BackpressureError('ERR_WBP_ROLE', sentence));
    }
    return this.#receiver.receive(request);
  }

  snapshot(): InboxSnapshot {
    const now = this.#now();
    // First, since it may report an alarm, whose listeners may do anything.
    const { windows, alarms } = this.#monitoring.look(now).read(now);
    this.#resizeLevel();
    this.#refuser.advance(now);
    return inboxSnapshot(this.#parts, {
      ...{ now, windows, alarms, state: this.#state(), concurrency: this.#concurrency },
      ...{ oldestAgeMs: this.#oldestAgeMs, isStoreFailing: this.#isStoreFailing(), stats: this.#stats },
      ...{ settings: this.#settings, options: this.#options },
    });
  }

  /** See {@link glanceAt}. */
  glance(): Pick<InboxSnapshot, GlanceField> {
    const { depth, highWater } = this.#level;
    return {
      state: this.#state(),
      depth,
      highWater,
      concurrency: this.#concurrency,
      drainRate: this.#inboxRate.perSecond,
    };
  }

  update(changes: InboxTunable): void {
    const before = this.#settings;
    this.#settings = updateInboxSettings(before, changes, this.#role);
    this.#options = currentInboxOptions(this.#settings);
    const { concurrency, drainRate } = changes;
    this.#intake.update({ concurrency, drainRate, maxHandlingMs: backstop(this.#settings) });
    this.#judge();
    this.#report.monitor?.judge(this.#now());
    this.#workers.claimer.wake();
    const options = Object.keys(changes).filter((name) => changes[name as keyof InboxTunable] !== undefined);
    this.#report.emit({ type: 'updated', options });
  }

  subscribe(listener: InboxListener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    const unsubscribe = this.#report.listeners.add(listener);
    const now = this.#now();
    this.#monitoring.look(now).judge(now);
    return unsubscribe;
  }

  close({
    timeoutMs = DEFAULT_TIMEOUT_MS,
  }: { timeoutMs?: number | undefined } = {}): Promise<InboxCloseReport> {
    if (!(typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= DAY_MS)) {
      throw invalid('ERR_WBP_CLOSE', 'timeoutMs', 'a number of milliseconds from 0 to 86,400,000', timeoutMs);
    }
    this.#closed ??= this.#close(timeoutMs);
    return this.#closed;
  }

  async #close(timeoutMs: number): Promise<InboxCloseReport> {
    this.#phase = 'closing';
    this.#monitoring.end(this.#now());
    const report = await this.#shutDown(timeoutMs);
    this.#phase = 'closed';
    const { completed, remaining } = report;
    this.#report.emit({ type: 'closed', completed, remaining });
    return report;
  }

  readonly #begin = (opened: OpenedStore): void => {
    this.#stats = opened;
    this.#finished.learn(opened);
    this.#level.fill(opened, opened.depthByKey);
    if (this.#phase !== 'opening') return;
    this.#phase = 'open';
    // Without workers nothing is claimed.
    this.#workers.isOpen = this.#role !== 'receiver';
    this.#judge();
    this.#report.monitor?.judge(this.#now());
    this.#maintenance.begin();
    this.#workers.claimer.wake();
  };

  readonly #learn = (stats: StoreStats, adopt: boolean, isExact: boolean): boolean => {
    this.#stats = stats;
    this.#finished.learn(stats);
    const isShared = adopt && this.#level.correct(stats, isExact);
    this.#judge();
    return isShared;
  };

  get #oldestAgeMs(): number {
    const oldest = this.#level.depth === 0 ? undefined : this.#stats?.oldestReceivedAtMs;
    return oldest === undefined ? 0 : Math.max(0, this.#wall.rawMs() - oldest);
  }

  get #concurrency(): number {
    return this.#role === 'receiver' ? 0 : glanceAt(this.#intake).concurrency;
  }

  #resizeLevel(): void {
    this.#level.resize(this.#settings, this.#inboxRate.perSecond);
  }

  readonly #judge = (): void => {
    this.#resizeLevel();
    if (!this.#level.judge()) return;
    const { shedding, depth, bytes } = this.#level;
    this.#report.emit({ type: shedding ? 'shedding' : 'accepting', depth, bytes });
  };

  #state(): IntakeState {
    if (this.#phase === 'closing' || this.#phase === 'closed') return this.#phase;
    if (this.#inboxRate.isStalled) return 'stalled';
    return this.#level.shedding ? 'shedding' : 'accepting';
  }
}

/** A receiver without workers claims nothing. */
function doNothing(): void {
  // Never called.
}
