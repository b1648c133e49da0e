import type { Intake } from '@webhook-backpressure/core';
import { monotonic } from '@webhook-backpressure/base';
import { Redriving } from './admin/redriving.ts';
import { CurrentDrainRate } from './capacity/drain-reading.ts';
import { FillLevel } from './capacity/fill-level.ts';
import { FinishedUsage } from './capacity/finished-usage.ts';
import { InboxDrainRate } from './capacity/inbox-drain-rate.ts';
import { StoreDrainRate } from './capacity/store-drain-rate.ts';
import { InboxReport } from './events/inbox-report.ts';
import { LevelWatch } from './maintenance/level-watch.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import { Retention } from './maintenance/retention.ts';
import type { AnyInboxOptions, InboxFixtures, InboxSettings } from './options/inbox-settings.ts';
import type { InboxRole } from './options/roles.ts';
import { InboxReceiver, type ReceiverParts } from './receive/inbox-receiver.ts';
import { InboxRefuser } from './receive/inbox-refuser.ts';
import { ReceiverExchange } from './receive/receiver-exchange.ts';
import { MAX_RECEIVING_DELAY_MS, StoreHealth } from './store-calls/store-health.ts';
import { asInboxStore, isInboxStore } from './store/as-inbox-store.ts';
import type { InboxStore, StoreStats } from './store/inbox-store.ts';
import { Scheduler } from './time/scheduler.ts';
import { WallTime } from './time/wall-time.ts';
import { InboxWorkers } from './work/inbox-workers.ts';
import { createWorkerIntake } from './worker-intake.ts';

/** What the parts ask of the inbox, and report to it. */
export interface InboxHooks {
  readonly settings: () => InboxSettings;
  /** Whether new deliveries are accepted. */
  readonly isOpen: () => boolean;
  readonly isOpening: () => boolean;
  /** Recalculates the marks, and whether the inbox sheds. */
  readonly judge: () => void;
  /** See `Maintenance`. */
  readonly learn: (stats: StoreStats, adopt: boolean, isExact: boolean) => boolean;
}

/** The parts of an inbox, connected. */
export interface InboxParts {
  readonly role: InboxRole;
  readonly store: InboxStore;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly wall: WallTime;
  readonly report: InboxReport;
  readonly scheduler: Scheduler;
  readonly health: StoreHealth;
  readonly receivingHealth: StoreHealth;
  readonly level: FillLevel;
  readonly intake: Intake;
  readonly finished: FinishedUsage;
  /** The rate of the own workers. */
  readonly ownRate: InboxDrainRate;
  /** The rate of all workers on the store. */
  readonly inboxRate: CurrentDrainRate;
  readonly refuser: InboxRefuser;
  /** Undefined for workers without a receiver. */
  readonly receiver: InboxReceiver | undefined;
  readonly workers: InboxWorkers;
  readonly redriving: Redriving;
  readonly watch: LevelWatch;
  readonly maintenance: Maintenance;
  /** Undefined where nothing is refused, or the store has no registry. */
  readonly exchange: ReceiverExchange | undefined;
}

/** Creates the parts of an inbox. */
export function composeInbox(
  options: AnyInboxOptions,
  fixtures: InboxFixtures,
  { settings, isOpen, isOpening, judge, learn }: InboxHooks,
): InboxParts {
  const { role, encryption } = fixtures;
  const store = asInboxStore(options.store);
  const hasAllCalls = isInboxStore(options.store);
  const now = monotonic(fixtures.clock);
  const wall = new WallTime(fixtures.wallClock, now);
  const wallMs = (): number => wall.trustedMs();
  const report = new InboxReport(now, fixtures.dryRun);
  const scheduler = new Scheduler(fixtures.clock, now);
  if (role === 'worker') scheduler.keepAlive();
  // Without workers, the reading of the level has to find out quickly that the store works again.
  const health = new StoreHealth(scheduler, report, role === 'receiver' ? MAX_RECEIVING_DELAY_MS : undefined);
  // Two healths: when claims fail and puts succeed, or the reverse, neither must report that the store works.
  const receivingHealth = new StoreHealth(scheduler, report, MAX_RECEIVING_DELAY_MS);
  const level = new FillLevel();
  const intake = createWorkerIntake(fixtures, settings());
  intake.subscribe(({ type }) => {
    if (type === 'stalled' || type === 'recovered') report.emit({ type });
  });
  const ownRate = new InboxDrainRate(intake);
  const storeRate = new StoreDrainRate();
  const inboxRate = new CurrentDrainRate(ownRate, storeRate, () => watch.isShared);
  const members = (nowMs: number): number => exchange?.members(nowMs) ?? 1;
  const refuser = new InboxRefuser(fixtures.random, level, inboxRate, report, members);
  const { registry } = store;
  const { clock, random } = fixtures;
  const exchange: ReceiverExchange | undefined =
    registry === undefined || role === 'worker'
      ? undefined
      : new ReceiverExchange({
          ...{ registry, clock, scheduler, now, random, join: () => refuser.join() },
          isShared: () => watch.isShared,
        });
  const finished = new FinishedUsage(settings);
  const common = {
    ...{ role, store, health, scheduler, report, fixtures, encryption, now, wallMs, intake, finished },
    ...{ level, settings, judge },
  };
  const { process = doNothing, onDead } = options;
  const workers = new InboxWorkers({ ...common, inboxRate: ownRate, process, onDead, relieved: judge });
  const wake = (): void => {
    workers.claimer.wake();
  };
  const receiverParts: Omit<ReceiverParts, 'options'> = {
    ...{ ...common, refuser, health: receivingHealth },
    receivedAtMs: () => wall.rawMs(),
    isOpen,
    // A delivery that can be stored but not processed stays with the sender, which may use another receiver or alert.
    isReady: () => !isOpening() && !receivingHealth.isResting && !health.isStuck,
    stored: wake,
  };
  const receiver =
    options.verify === undefined ? undefined : new InboxReceiver({ ...receiverParts, options });
  const redriving = new Redriving({ ...common, restored: wake });
  const isQuiet = (): boolean => !workers.isStoring && receiver?.isStoring !== true && !redriving.isBusy;
  const watch: LevelWatch = new LevelWatch({
    ...{ ...common, storeRate, isQuiet, hasDueTimes: hasAllCalls },
    learned: (stats) => learn(stats, false, false),
  });
  const retention = new Retention({ ...common, agedMs: () => wall.agedMs() });
  const maintenance = new Maintenance({
    ...{ ...common, isQuiet, learn },
    retention: role === 'receiver' ? undefined : retention,
    // A worker receives nothing, so its marks do not apply to receivers.
    redriveMarks: role === 'worker' || !hasAllCalls ? undefined : () => level.redriveMarks,
    isShared: () => watch.isShared,
    maxRetryDelayMs: () => settings().retry.maxDelayMs,
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
    watch.noteOthers();
    wake();
  });
  return {
    ...{
      role,
      store,
      now,
      wall,
      wallMs,
      report,
      scheduler,
      health,
      receivingHealth,
      level,
      intake,
      finished,
    },
    ...{ ownRate, inboxRate, refuser, receiver, workers, redriving, watch, maintenance, exchange },
  };
}

/** A receiver without workers claims nothing. */
function doNothing(): void {
  // Never called.
}
