import {
  BackpressureError,
  checkNames,
  checkNumber,
  DAY_MS,
  type GlanceField,
  invalid,
  showWarning,
} from '@webhook-backpressure/base';
import type { ObserveHandle } from '@webhook-backpressure/core/extend';
import type { IntakeState } from '@webhook-backpressure/core';
import { FirstUse, markStarting } from '@webhook-backpressure/core/middleware';
import { deadLetters, type DeadLetters } from './admin/dead-letters.ts';
import { completed, pending, type Completed, type Pending } from './admin/lists.ts';
import { Redriving } from './admin/redriving.ts';
import { InboxState } from './capacity/inbox-state.ts';
import type { InboxListener } from './events/inbox-events.ts';
import type { Inbox, InboxCloseReport, InboxSnapshot } from './inbox.ts';
import { LevelWatch } from './maintenance/level-watch.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import { Retention } from './maintenance/retention.ts';
import type { CurrentInboxOptions, DeliveryHandler, InboxTunable } from './options/inbox-options.ts';
import {
  currentInboxOptions,
  resolveInboxOptions,
  updateInboxSettings,
  type AnyInboxOptions,
} from './options/inbox-settings.ts';
import type { InboxRole } from './options/roles.ts';
import type { AddedDelivery, AddOptions, AddResult } from './receive/added-delivery.ts';
import { Additions } from './receive/additions.ts';
import { InboxAdmission } from './receive/inbox-admission.ts';
import type { InboxAnswer } from './receive/inbox-answers.ts';
import { InboxReceiver } from './receive/inbox-receiver.ts';
import type { InboxRequest } from './receive/inbox-request.ts';
import { ReceiverExchange } from './receive/receiver-exchange.ts';
import { CommitWatch } from './store-calls/commit-watch.ts';
import { StoreOpening } from './store-calls/store-opening.ts';
import type { OpenedStore } from './store/inbox-store.ts';
import { InboxWorkers } from './work/inbox-workers.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** What the store gets to release everything, after the timeout of the handlers. */
const STORE_TIMEOUT_MS = 2000;

/** The most paused keys, because each claim has to skip them. */
const MAX_PAUSED = 1000;

/** An inbox: a receiver that fills the store, workers that empty it, and the state that both share. */
export class DurableInbox implements Inbox {
  readonly opened: Promise<void>;
  readonly pending: Pending;
  readonly deadLetters: DeadLetters;
  readonly completed: Completed;
  readonly #state: InboxState;
  readonly #admission: InboxAdmission;
  /** Undefined for workers without a receiver. */
  readonly #receiver: InboxReceiver | undefined;
  readonly #additions: Additions;
  readonly #workers: InboxWorkers;
  readonly #hasBatches: boolean;
  readonly #redriving: Redriving;
  readonly #watch: LevelWatch;
  readonly #maintenance: Maintenance;
  /** Undefined where nothing is refused, or the store has no registry. */
  readonly #exchange: ReceiverExchange | undefined;
  readonly #opening: StoreOpening;
  /** Undefined where a test passes a clock. */
  readonly #firstUse: FirstUse | undefined;
  #options: CurrentInboxOptions;
  #closed: Promise<InboxCloseReport> | undefined;
  #endOpening: () => void = () => undefined;

  constructor(options: AnyInboxOptions, role: InboxRole) {
    const { settings, fixtures } = resolveInboxOptions(options, role);
    const state = (this.#state = new InboxState(options.store, settings, fixtures));
    this.#options = currentInboxOptions(settings);
    const { store, now, wall, report, scheduler, health, level, finished, random, encryption } = state;
    const { clock, isOrdered } = fixtures;
    const wallMs = (): number => wall.trustedMs();
    this.opened = new Promise((resolve) => {
      this.#endOpening = resolve;
    });
    const workers = (this.#workers = new InboxWorkers(state, options));
    const wake = (key?: string): void => {
      workers.wake(key);
    };
    this.#hasBatches = options.processBatch !== undefined;
    const admission = (this.#admission = new InboxAdmission(
      state,
      options.keyGenerator !== undefined,
      (nowMs) => this.#exchange?.members(nowMs) ?? 1,
    ));
    const { registry } = store;
    if (registry !== undefined && role !== 'worker') {
      const join = () => admission.join();
      const isShared = (): boolean => state.isShared;
      this.#exchange = new ReceiverExchange({ registry, clock, scheduler, now, random, join, isShared });
    }
    if (options.verify !== undefined) this.#receiver = new InboxReceiver(state, options, admission, wake);
    const current = () => state.settings;
    const judge = (): void => {
      state.judge();
    };
    const redriving = (this.#redriving = new Redriving({
      scheduler,
      level,
      report,
      finished,
      settings: current,
      now,
      judge,
      restored: wake,
    }));
    const commits = new CommitWatch<null>(scheduler, () => {
      wake();
    });
    this.#additions = new Additions(state, options, this.opened, wake, () => {
      // The level counts it by the totals of the store, as those of other processes.
      this.#watch.noteOthers();
      commits.expect(null);
    });
    const isQuiet = (): boolean =>
      !this.#additions.isStoring &&
      !workers.isStoring &&
      this.#receiver?.isStoring !== true &&
      !redriving.isBusy;
    this.#watch = new LevelWatch(state, isQuiet);
    const agedMs = (): number => wall.agedMs();
    const retention = new Retention({ store, report, finished, settings: current, now, wallMs, agedMs });
    this.#maintenance = new Maintenance({
      store,
      health,
      scheduler,
      now,
      wallMs,
      retention: role === 'receiver' ? undefined : retention,
      // A worker receives nothing, so its marks do not apply to receivers.
      redriveMarks: role === 'worker' || !state.hasAllCalls ? undefined : () => level.redriveMarks,
      maxRetryDelayMs: () => state.settings.retry.maxDelayMs,
      isQuiet,
      isIdle: () => workers.runs.size === 0,
      isShared: () => state.isShared,
      learn: (stats, adopt, isExact) => {
        state.learn(stats);
        const isShared = adopt && level.correct(stats, isExact);
        if (isShared) this.#watch.noteOthers();
        state.judge();
        return isShared;
      },
      learnKeys: (depthByKey) => {
        level.correctKeys(depthByKey);
      },
      // Another process may have released deliveries, or stored some while its own workers are busy.
      wake,
    });
    store.watch?.((event) => {
      if (event.type === 'warning') {
        report.emit({ ...event, type: 'store-warning' });
        return;
      }
      this.#watch.noteOthers();
      wake();
    });
    this.pending = pending(store, wallMs, encryption);
    const admin = { store, report, finished, redriving, scheduler, now, wallMs, encryption };
    this.deadLetters = deadLetters(admin);
    this.completed = completed(store, redriving, wallMs, encryption, (id) => fixtures.handlers.partIdsOf(id));
    this.#opening = new StoreOpening({
      store,
      health,
      wallMs,
      isOrdered,
      isWanted: () => state.phase === 'opening',
      opened: this.#begin,
      failed: () => this.#receiver?.endStart(),
    });
    state.resize();
    markStarting(this, true);
    if (options.clock === undefined) {
      this.#firstUse = new FirstUse(this, (line) => {
        showWarning(
          'WBP_IN_HANDLER',
          `An inbox is created for each request (${line}), so each has its own store and workers, and nothing is limited. Create it once, outside of the handler.`,
        );
      });
    }
    // Nothing is opened, so that the build does not wait for it.
    if (!this.#opening.begin()) {
      this.#receiver?.endStart();
      this.#endOpening();
    }
  }

  receive(request: InboxRequest): Promise<InboxAnswer | null> {
    this.#firstUse?.note();
    if (this.#receiver !== undefined) return this.#receiver.receive(request);
    const sentence = 'This inbox has workers only. Receive deliveries with webhookInbox().';
    return Promise.reject(new BackpressureError('ERR_WBP_ROLE', sentence));
  }

  add(delivery: AddedDelivery, options: AddOptions = {}): Promise<AddResult> {
    checkNames(options, 'the options of add()', ['client', 'asReceived', 'dryRun'], 'ERR_WBP_ADD');
    const { client, asReceived, dryRun } = options;
    if (client === undefined) return this.#additions.add(delivery, { asReceived, dryRun });
    if (asReceived === undefined && dryRun === undefined) return this.#additions.addIn(client, delivery);
    throw new BackpressureError('ERR_WBP_ADD', 'client cannot be combined with asReceived or dryRun.');
  }

  snapshot(): InboxSnapshot {
    const { now, role, level, settings, finished, report, stats } = this.#state;
    const nowMs = now();
    // First, since it may report an alarm, whose listeners may do anything.
    const { state, depth, highWater, concurrency, drainRate } = this.glance();
    const { seconds, promises } = this.#admission.retryAfter;
    seconds.advance(nowMs);
    const { failingSinceMs, failingKeys } = this.#workers.outages;
    const { deadLetters, kept } = finished;
    return {
      role,
      state,
      depth,
      active: this.#workers.active,
      bytes: level.bytes,
      deadLetters: deadLetters.count,
      deadLetterBytes: deadLetters.bytes,
      retained: kept.count,
      retainedBytes: kept.bytes,
      capacity: settings.capacity,
      effectiveCapacity: level.effectiveCapacity,
      maxBytes: settings.maxBytes,
      highWater,
      lowWater: level.lowWater,
      concurrency,
      drainRate,
      oldestAgeMs: this.#oldestAgeMs,
      booked: seconds.total,
      bookedAhead: seconds.ahead(),
      keys: level.keys,
      outageMs: failingSinceMs === undefined ? null : nowMs - failingSinceMs,
      failingKeys,
      limitedKeys: this.#workers.limitedKeys,
      isPaused: stats?.isPaused ?? false,
      pausedKeys: stats?.pausedKeys ?? [],
      isStoreFailing: !this.#state.health.isWell || !this.#state.receivingHealth.isWell,
      endangered: this.#admission.endangered(nowMs),
      options: this.#options,
      totals: report.read(promises.counts),
    };
  }

  /** See {@link glanceAt}. */
  glance(): Pick<InboxSnapshot, GlanceField> {
    this.#state.resize();
    const { phase, role, level, ownRate, rate, drainRate } = this.#state;
    const { depth, highWater, shedding } = level;
    let state: IntakeState = shedding ? 'shedding' : 'accepting';
    if (ownRate.isStalled || rate.isStalled) state = 'stalled';
    if (phase === 'closing' || phase === 'closed') state = phase;
    const concurrency = role === 'receiver' ? 0 : this.#workers.handlers.concurrency;
    return { state, depth, highWater, concurrency, drainRate };
  }

  update(changes: InboxTunable): void {
    const { settings, role, report } = this.#state;
    this.#state.settings = updateInboxSettings(settings, changes, role, this.#workers.sharesWorkers);
    this.#options = currentInboxOptions(this.#state.settings);
    this.#workers.retune();
    this.#state.judge();
    const options = Object.keys(changes).filter((name) => changes[name as keyof InboxTunable] !== undefined);
    report.emit({ type: 'updated', options });
  }

  async pause(...key: readonly [key?: string]): Promise<void> {
    const { store, report } = this.#state;
    const which = checkedPause(key);
    if (which !== null) {
      const { pausedKeys } = await store.stats();
      if (pausedKeys.length >= MAX_PAUSED && !pausedKeys.includes(which)) {
        const most = MAX_PAUSED.toLocaleString('en');
        throw new BackpressureError('ERR_WBP_PAUSE', `At most ${most} keys can be paused.`);
      }
    }
    const isNew = await store.pause(which);
    this.#workers.paused(which);
    if (isNew) report.emit({ type: 'paused', key: which });
    // The snapshot shows it after that.
    await this.#maintenance.run();
  }

  async resume(...key: readonly [key?: string]): Promise<void> {
    const { store, report } = this.#state;
    const which = checkedPause(key);
    const wasPaused = await store.resume(which);
    if (wasPaused) report.emit({ type: 'resumed', key: which });
    // The workers claim what is due after it.
    await this.#maintenance.run();
  }

  on(type: string, handler: DeliveryHandler, options?: { name?: string | undefined }): void {
    const { role, fixtures } = this.#state;
    if (role === 'receiver') {
      const sentence = 'This inbox has no workers. Pass process, or on: {}, to create them.';
      throw new BackpressureError('ERR_WBP_ROLE', sentence);
    }
    if (this.#hasBatches)
      throw new BackpressureError('ERR_WBP_ON', 'An inbox with processBatch has no other handlers.');
    fixtures.handlers.add(type, handler, options);
  }

  subscribe(listener: InboxListener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    return this.#state.report.listeners.add(listener);
  }

  close({
    timeoutMs = DEFAULT_TIMEOUT_MS,
  }: { timeoutMs?: number | undefined } = {}): Promise<InboxCloseReport> {
    checkNumber('ERR_WBP_CLOSE', 'timeoutMs', timeoutMs, 0, DAY_MS, 'milliseconds');
    this.#closed ??= this.#close(timeoutMs);
    return this.#closed;
  }

  /** Lets handlers finish until the timeout, then gives their deliveries back and closes the store. */
  async #close(timeoutMs: number): Promise<InboxCloseReport> {
    const { scheduler, report } = this.#state;
    const { totals } = report;
    const workers = this.#workers;
    this.#state.phase = 'closing';
    this.#receiver?.endStart();
    this.#endOpening();
    const endedBefore = totals.completed + totals.failed;
    workers.giveBackWaiting(null);
    const redriven = this.#redriving.end();
    // Otherwise a process with nothing else to do would end before claims are given back and the store is closed.
    await Promise.race([workers.idle(), scheduler.hold(timeoutMs)]);
    this.#state.isOutOfTime = true;
    const remaining = workers.runs.size;
    const released = redriven.then(() => this.#release());
    await Promise.race([released, scheduler.hold(STORE_TIMEOUT_MS)]);
    scheduler.stop();
    this.#state.phase = 'closed';
    const ended = totals.completed + totals.failed - endedBefore;
    report.emit({ type: 'closed', completed: ended, remaining });
    return { completed: ended, refused: 0, remaining };
  }

  async #release(): Promise<void> {
    const { store, health, wall } = this.#state;
    const workers = this.#workers;
    await workers.abandon();
    await Promise.all([
      this.#opening.ended(),
      this.#receiver?.idle(),
      this.#additions.idle(),
      workers.claimed(),
      this.#maintenance.end(),
      this.#watch.end(),
      this.#exchange?.end(),
    ]);
    // A claim that was in progress has been given back to the store, which may take a moment.
    if (!health.isResting) await workers.idle();
    workers.end();
    try {
      await store.close(wall.trustedMs());
    } catch (error) {
      health.failed('close', error);
    }
  }

  get #oldestAgeMs(): number {
    const { level, stats, wall } = this.#state;
    const oldest = level.depth === 0 ? undefined : stats?.oldestReceivedAtMs;
    return oldest === undefined ? 0 : Math.max(0, wall.rawMs() - oldest);
  }

  /** See `observeHandleOf`. */
  observeHandle(): ObserveHandle {
    const { now, fixtures, report, level, health, receivingHealth } = this.#state;
    const isOpen = (): boolean => this.#state.phase === 'opening' || this.#state.phase === 'open';
    return {
      kind: 'inbox',
      isDryRun: fixtures.dryRun,
      clock: fixtures.clock,
      now,
      isOpen,
      // While it opens, a backlog may turn up without an event.
      isIdle: () => this.#state.phase !== 'opening' && level.depth === 0,
      depth: () => level.depth,
      stalledMs: (at) => {
        const { ownRate, rate } = this.#state;
        return Math.max(ownRate.isStalled ? ownRate.gapMs(at) : 0, rate.isStalled ? rate.gapMs(at) : 0);
      },
      endangered: (at) => this.#admission.endangered(at).length,
      oldestAgeMs: () => this.#oldestAgeMs,
      storeFailingMs: () => Math.max(health.failingMs, receivingHealth.failingMs),
      report: (at, event) => {
        report.listeners.emit(at, event);
      },
    };
  }

  readonly #begin = (opened: OpenedStore): void => {
    const { level } = this.#state;
    this.#state.learn(opened);
    level.fill(opened, opened.depthByKey);
    if (this.#state.phase !== 'opening') return;
    this.#state.phase = 'open';
    markStarting(this, false);
    this.#receiver?.endStart();
    this.#endOpening();
    this.#state.judge();
    this.#maintenance.begin();
    this.#watch.begin();
    this.#exchange?.begin();
    this.#workers.wake();
  };
}

/** Rejects an invalid or undefined key, because an absent one means everything. */
function checkedPause(given: readonly [key?: string]): string | null {
  if (given.length === 0) return null;
  const [key] = given;
  if (typeof key !== 'string') throw invalid('ERR_WBP_PAUSE', 'key', 'a string if it is given', key);
  return key;
}
