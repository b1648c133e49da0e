import { BackpressureError, DAY_MS, glanceAt, type GlanceField, invalid } from '@webhook-backpressure/base';
import { LateMonitor, type Monitor } from '@webhook-backpressure/core/extend';
import type { IntakeState } from '@webhook-backpressure/core';
import { markStarting } from '@webhook-backpressure/core/middleware';
import { completed, type Completed } from './admin/completed.ts';
import { deadLetters, type DeadLetters } from './admin/dead-letters.ts';
import { pending, type Pending } from './admin/pending.ts';
import type { InboxListener } from './events/inbox-events.ts';
import { inboxMonitor } from './inbox-monitor.ts';
import { composeInbox, type InboxHooks, type InboxParts } from './inbox-parts.ts';
import { inboxSnapshot } from './inbox-snapshot.ts';
import { shutDown } from './inbox-shutdown.ts';
import type { Inbox, InboxCloseReport, InboxSnapshot } from './inbox.ts';
import type { CurrentInboxOptions } from './options/current-inbox-options.ts';
import type { InboxTunable } from './options/inbox-options.ts';
import {
  currentInboxOptions,
  resolveInboxOptions,
  updateInboxSettings,
  type AnyInboxOptions,
  type InboxSettings,
} from './options/inbox-settings.ts';
import type { InboxRole } from './options/roles.ts';
import type { InboxAnswer } from './receive/inbox-answers.ts';
import type { InboxRequest } from './receive/inbox-request.ts';
import { StoreOpening } from './store-calls/store-opening.ts';
import type { OpenedStore, StoreStats } from './store/inbox-store.ts';
import { backstop } from './worker-intake.ts';
import { Pauses } from './work/pauses.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/** An inbox: a receiver that fills the store, workers that empty it, and the level between them. */
export class DurableInbox implements Inbox {
  readonly opened: Promise<void>;
  readonly pending: Pending;
  readonly deadLetters: DeadLetters;
  readonly completed: Completed;
  readonly pause: Inbox['pause'];
  readonly resume: Inbox['resume'];
  readonly #role: InboxRole;
  readonly #parts: InboxParts;
  readonly #monitoring: LateMonitor<Monitor>;
  readonly #shutDown: (timeoutMs: number) => Promise<InboxCloseReport>;
  #settings: InboxSettings;
  #options: CurrentInboxOptions;
  #phase: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  #stats: StoreStats | undefined;
  #closed: Promise<InboxCloseReport> | undefined;
  #endOpening: () => void = () => undefined;

  constructor(options: AnyInboxOptions, role: InboxRole) {
    const { settings, fixtures } = resolveInboxOptions(options, role);
    this.#role = role;
    this.#settings = settings;
    this.#options = currentInboxOptions(settings);
    this.opened = new Promise((resolve) => {
      this.#endOpening = resolve;
    });
    const hooks: InboxHooks = {
      settings: () => this.#settings,
      isOpen: () => this.#phase === 'open' || this.#phase === 'opening',
      isOpening: () => this.#phase === 'opening',
      judge: this.#judge,
      learn: this.#learn,
    };
    const parts = (this.#parts = composeInbox(options, fixtures, hooks));
    const { store, wallMs, health, receivingHealth, workers, maintenance } = parts;
    const { clock, encryption, isOrdered } = fixtures;
    const common = { ...parts, encryption, settings: hooks.settings };
    const monitored = {
      ...{ ...common, clock, healths: [health, receivingHealth] },
      oldestAgeMs: () => this.#oldestAgeMs,
    };
    this.#monitoring = new LateMonitor(parts.report, (nowMs) => inboxMonitor(monitored, nowMs));
    const pauses = new Pauses({
      ...common,
      paused: (key) => {
        workers.giveBackWaiting(key);
      },
      // The workers claim what is due after it.
      changed: () => maintenance.run(),
    });
    this.pause = (...key) => pauses.pause(...key);
    this.resume = (...key) => pauses.resume(...key);
    this.pending = pending(store, wallMs, encryption);
    this.deadLetters = deadLetters(common);
    this.completed = completed(common);
    const opening = new StoreOpening({
      ...{ ...common, isOrdered, isWanted: hooks.isOpening },
      opened: this.#begin,
      failed: () => parts.receiver?.endStart(),
    });
    this.#shutDown = (timeoutMs) => shutDown({ ...parts, opening }, timeoutMs);
    this.#resizeLevel();
    markStarting(this, true);
    // Nothing is opened, so that the build does not wait for it.
    if (!opening.begin()) {
      parts.receiver?.endStart();
      this.#endOpening();
    }
  }

  receive(request: InboxRequest): Promise<InboxAnswer | null> {
    const { receiver } = this.#parts;
    if (receiver === undefined) {
      const sentence = 'This inbox has workers only. Receive deliveries with webhookInbox().';
      return Promise.reject(new BackpressureError('ERR_WBP_ROLE', sentence));
    }
    return receiver.receive(request);
  }

  snapshot(): InboxSnapshot {
    const now = this.#parts.now();
    // First, since it may report an alarm, whose listeners may do anything.
    const { windows, alarms } = this.#monitoring.look(now).read(now);
    this.#resizeLevel();
    this.#parts.refuser.advance(now);
    return inboxSnapshot(this.#parts, {
      ...{ now, windows, alarms, state: this.#state(), concurrency: this.#concurrency },
      ...{ oldestAgeMs: this.#oldestAgeMs, isStoreFailing: this.#isStoreFailing, stats: this.#stats },
      ...{ settings: this.#settings, options: this.#options },
    });
  }

  /** See {@link glanceAt}. */
  glance(): Pick<InboxSnapshot, GlanceField> {
    const { depth, highWater } = this.#parts.level;
    return {
      state: this.#state(),
      depth,
      highWater,
      concurrency: this.#concurrency,
      drainRate: this.#parts.inboxRate.perSecond,
    };
  }

  update(changes: InboxTunable): void {
    const before = this.#settings;
    this.#settings = updateInboxSettings(before, changes, this.#role);
    this.#options = currentInboxOptions(this.#settings);
    const { concurrency, drainRate } = changes;
    this.#parts.intake.update({ concurrency, drainRate, maxHandlingMs: backstop(this.#settings) });
    this.#judge();
    this.#parts.report.monitor?.judge(this.#parts.now());
    this.#parts.workers.claimer.wake();
    const options = Object.keys(changes).filter((name) => changes[name as keyof InboxTunable] !== undefined);
    this.#parts.report.emit({ type: 'updated', options });
  }

  subscribe(listener: InboxListener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    const unsubscribe = this.#parts.report.listeners.add(listener);
    const now = this.#parts.now();
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
    this.#parts.receiver?.endStart();
    this.#endOpening();
    this.#monitoring.end(this.#parts.now());
    const report = await this.#shutDown(timeoutMs);
    this.#phase = 'closed';
    const { completed, remaining } = report;
    this.#parts.report.emit({ type: 'closed', completed, remaining });
    return report;
  }

  readonly #begin = (opened: OpenedStore): void => {
    this.#stats = opened;
    this.#parts.finished.learn(opened);
    this.#parts.level.fill(opened, opened.depthByKey);
    if (this.#phase !== 'opening') return;
    this.#phase = 'open';
    markStarting(this, false);
    this.#parts.receiver?.endStart();
    this.#endOpening();
    // Without workers nothing is claimed.
    this.#parts.workers.isOpen = this.#role !== 'receiver';
    this.#judge();
    this.#parts.report.monitor?.judge(this.#parts.now());
    this.#parts.maintenance.begin();
    this.#parts.watch.begin();
    this.#parts.exchange?.begin();
    this.#parts.workers.claimer.wake();
  };

  readonly #learn = (stats: StoreStats, adopt: boolean, isExact: boolean): boolean => {
    this.#stats = stats;
    this.#parts.finished.learn(stats);
    const isShared = adopt && this.#parts.level.correct(stats, isExact);
    if (isShared) this.#parts.watch.noteOthers();
    this.#judge();
    return isShared;
  };

  get #oldestAgeMs(): number {
    const oldest = this.#parts.level.depth === 0 ? undefined : this.#stats?.oldestReceivedAtMs;
    return oldest === undefined ? 0 : Math.max(0, this.#parts.wall.rawMs() - oldest);
  }

  get #isStoreFailing(): boolean {
    const { health, receivingHealth } = this.#parts;
    return !health.isWell || !receivingHealth.isWell;
  }

  get #concurrency(): number {
    return this.#role === 'receiver' ? 0 : glanceAt(this.#parts.intake).concurrency;
  }

  #resizeLevel(): void {
    this.#parts.level.resize(this.#settings, this.#parts.inboxRate.perSecond);
  }

  readonly #judge = (): void => {
    this.#resizeLevel();
    if (!this.#parts.level.judge()) return;
    const { shedding, depth, bytes } = this.#parts.level;
    this.#parts.report.emit({ type: shedding ? 'shedding' : 'accepting', depth, bytes });
  };

  #state(): IntakeState {
    if (this.#phase === 'closing' || this.#phase === 'closed') return this.#phase;
    const { ownRate, inboxRate } = this.#parts;
    if (ownRate.isStalled || inboxRate.isStalled) return 'stalled';
    return this.#parts.level.shedding ? 'shedding' : 'accepting';
  }
}
