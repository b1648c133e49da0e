import type { StoreStats } from '@webhook-backpressure/inbox';
import {
  FinishedUsage,
  LeaseRenewal,
  Maintenance,
  MAX_RECEIVING_DELAY_MS,
  Redriving,
  Retention,
  Scheduler,
  StoreHealth,
  WallTime,
} from '@webhook-backpressure/inbox/store';
import { monotonic } from '@webhook-backpressure/base';
import { GuardedBuckets } from './buckets/guarded-buckets.ts';
import { localBuckets } from './buckets/local-buckets.ts';
import type { Buckets } from './buckets/buckets.ts';
import { Attempts } from './dispatch/attempts.ts';
import type { Claim } from './dispatch/claim.ts';
import { Claiming } from './dispatch/claiming.ts';
import { Destinations } from './dispatch/destinations.ts';
import { Disabling } from './dispatch/disabling.ts';
import { Discovery } from './dispatch/discovery.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { Learning } from './dispatch/learning.ts';
import { Outcomes } from './dispatch/outcomes.ts';
import { Pauses } from './dispatch/pauses.ts';
import { Starter } from './dispatch/starter.ts';
import { Settling } from './dispatch/settling.ts';
import { EndpointDirectory } from './endpoints/directory.ts';
import { checkEndpoint } from './options/check-endpoint.ts';
import type { SenderSettings } from './options/sender-settings.ts';
import { OutboxLevel } from './outbox/outbox-level.ts';
import { Outbox } from './outbox/outbox.ts';
import { Breaker } from './pace/breaker.ts';
import { LearningPace } from './pace/learning-pace.ts';
import { fetchRequester } from './requests/fetch-requester.ts';
import type { Requester } from './requests/request.ts';
import { undiciRequester } from './requests/undici-requester.ts';
import { SenderReport } from './watch/sender-report.ts';

/** The most ids of delivered events that are remembered. */
const MAX_REMEMBERED = 1_000_000;

/** The calls of the parts to the sender. */
export interface SenderHooks {
  readonly opened: Promise<void>;
  /** Whether events are accepted. */
  readonly isAccepting: () => boolean;
  /** Whether the store is open. */
  readonly isOpen: () => boolean;
  /** The counts of the store were read. */
  readonly learned: (stats: StoreStats) => void;
}

/** The parts of a sender, connected. */
export interface SenderParts {
  readonly settings: SenderSettings;
  readonly now: () => number;
  readonly wall: WallTime;
  readonly wallMs: () => number;
  readonly report: SenderReport;
  readonly scheduler: Scheduler;
  readonly health: StoreHealth;
  readonly sendingHealth: StoreHealth;
  readonly buckets: Buckets;
  readonly requester: Requester;
  readonly level: OutboxLevel;
  readonly finished: FinishedUsage;
  readonly outbox: Outbox;
  readonly destinations: Destinations;
  readonly directory: EndpointDirectory;
  readonly learning: Learning;
  readonly pauses: Pauses;
  readonly disabling: Disabling;
  readonly settling: Settling;
  readonly attempts: Attempts;
  readonly claiming: Claiming;
  readonly dispatcher: Dispatcher;
  readonly discovery: Discovery;
  readonly renewal: LeaseRenewal<Claim>;
  readonly redriving: Redriving;
  readonly maintenance: Maintenance;
  readonly learn: (stats: StoreStats) => void;
}

/** Creates the parts of a sender. */
export function composeSender(settings: SenderSettings, hooks: SenderHooks): SenderParts {
  const { store, clock, random, retry, maxWaitMs, timeoutMs } = settings;
  const { isOpen, isAccepting } = hooks;
  const now = monotonic(clock);
  const wall = new WallTime(settings.wallClock, now);
  const wallMs = (): number => wall.trustedMs();
  const sentAtMs = (): number => wall.rawMs();
  const report = new SenderReport(now);
  const scheduler = new Scheduler(clock, now);
  const health = new StoreHealth(scheduler, report);
  // Two healths: when claims fail and puts succeed, or the reverse, neither must report that the store works.
  const sendingHealth = new StoreHealth(scheduler, report, MAX_RECEIVING_DELAY_MS);
  const buckets = settings.buckets === undefined ? localBuckets() : new GuardedBuckets(settings.buckets, now);
  const requester =
    settings.fetch === undefined ? undiciRequester(settings) : fetchRequester(settings.fetch, settings);
  const level = new OutboxLevel(settings);
  const finishedLimits = {
    ...{ maxShelved: settings.maxShelved, maxShelvedBytes: settings.maxBytes },
    ...{ keepCompletedMs: 0, maxKeptBytes: 0, maxShelvedAgeMs: undefined },
    ...{ retentionMs: settings.retentionMs, maxRemembered: MAX_REMEMBERED },
  };
  const finished = new FinishedUsage(() => finishedLimits);
  const common = {
    store,
    health,
    scheduler,
    now,
    wallMs,
    sentAtMs,
    random,
    report,
    buckets,
    level,
    finished,
  };

  const destinations = new Destinations((id) => {
    buckets.forget(id);
  });
  const learning = new Learning({
    ...common,
    newPace: ({ limit, maxInFlight }) => new LearningPace(limit, maxInFlight),
    newHealth: () => new Breaker(settings),
  });
  const changed = (id: string): void => {
    dispatcher.changed(id);
  };
  const pauses = new Pauses({
    ...common,
    changed: (id) => {
      if (id === null) dispatcher.changedAll();
      else dispatcher.changed(id);
    },
  });
  const disabling = new Disabling({ ...common, changed });
  const settling = new Settling({
    ...common,
    isOpen,
    ended: (destination) => {
      dispatcher.review(destination);
    },
    relieved: () => {
      outbox.relieve();
    },
  });
  const outcomes = new Outcomes({ ...common, settings, learning, settling, disabling });
  const directory = new EndpointDirectory({
    ...common,
    ask: settings.endpoint,
    check: (value) => checkEndpoint(value, settings),
    ttlMs: settings.endpointTtlMs,
    changed,
    failed: (endpoint, error, isKept) => {
      report.totals.endpointFailures += 1;
      report.emit({ type: 'endpoint-failed', endpoint, error, isKept });
    },
  });
  const dispatcher: Dispatcher = new Dispatcher({
    ...{ ...common, destinations, pauses, disabling, learning },
    attempts: () => attempts,
    claiming: () => claiming,
    settingsOf: (id) => directory.get(id),
    retired: (id) => {
      directory.release(id);
    },
  });
  const attempts = new Attempts({
    ...{ ...common, clock, timeoutMs, requester },
    answered: (attempt, answer) => {
      outcomes.answered(attempt, answer);
      dispatcher.review(attempt.destination);
    },
    damaged: (attempt, error) => {
      outcomes.damaged(attempt, error);
    },
    abandoned: (attempt) => {
      outcomes.abandoned(attempt);
    },
  });
  const starter = new Starter({
    ...{ ...common, pauses, disabling, settling, attempts, isOpen, done: dispatcher.review },
    readDisabled: () => Promise.resolve(store.stats()).then(learn),
    refused: (claim, error) => {
      outcomes.refused(claim, error);
    },
  });
  const claiming = new Claiming({
    ...common,
    claimed: (want, claim) => {
      starter.claimed(want, claim);
    },
    failed: (want) => {
      starter.failed(want);
    },
  });
  const outbox: Outbox = new Outbox({
    ...{ ...common, health: sendingHealth, limits: settings, whenFull: settings.whenFull },
    ...{ opened: hooks.opened, isAccepting, isOpen, isOpenFailing: () => !health.isWell },
    stored: (delivery) => {
      dispatcher.stored(delivery);
      report.monitor?.moved(now());
    },
  });
  let isShared = false;
  const discovery = new Discovery({
    ...common,
    isShared: () => isShared,
    due: (id, atMs) => {
      dispatcher.due(id, atMs);
    },
  });
  const renewal = new LeaseRenewal<Claim>({
    ...{ ...common, runs: settling.claims },
    lost: (claim) => {
      settling.lose(claim);
    },
  });
  const redriving = new Redriving({
    ...common,
    level: {
      get depth() {
        return level.depth;
      },
      get bytes() {
        return level.bytes;
      },
      room: (mark) => level.room(mark),
      add: (moved) => {
        level.add(moved);
        dispatcher.restored(moved.key);
      },
    },
    settings: () => ({ maxBodyBytes: settings.maxEventBytes, maxBytes: settings.maxBytes }),
    judge: () => {
      outbox.relieve();
    },
    restored: () => undefined,
  });
  const learn = (stats: StoreStats): void => {
    finished.learn(stats);
    pauses.learn(disabling.learn(stats.pausedKeys), stats.isPaused);
    hooks.learned(stats);
  };
  const retention = new Retention({
    ...{ ...common, settings: () => finishedLimits, agedMs: () => wall.agedMs() },
    report: {
      totals: report.totals,
      emit: ({ key: endpoint, id }) => {
        report.emit({ type: 'discarded', endpoint, id });
      },
    },
  });
  const maintenance = new Maintenance({
    ...{ ...common, retention, redriveMarks: undefined, isShared: () => isShared },
    // Longer than any delay that is added to it.
    maxRetryDelayMs: () => 2 * Math.max(retry.maxDelayMs, maxWaitMs),
    isQuiet: () => !settling.isBusy && !outbox.isStoring && !redriving.isBusy,
    learn: (stats, adopt, isExact) => {
      learn(stats);
      if ((adopt || isShared) && level.adopt(stats, level.ownChanges, isExact)) isShared = true;
      outbox.relieve();
      return false;
    },
    learnKeys: (depthByKey) => {
      for (const one of destinations.values()) one.stored = depthByKey.get(one.id) ?? one.held;
    },
    wake: () => {
      if (isShared) discovery.look();
    },
  });
  store.watch?.((event) => {
    if (event.type === 'warning') {
      report.emit({ ...event, type: 'store-warning' });
      return;
    }
    isShared = true;
    discovery.look();
  });
  buckets.open?.({
    ...{ clock, random },
    listener: (event) => {
      if (event.type === 'lost') {
        const { error, processes } = event;
        report.emit({ type: 'buckets-lost', error, processes });
      } else report.emit({ type: 'buckets-restored', lostMs: event.lostMs });
    },
  });
  return {
    ...{ settings, now, wall, wallMs, report, scheduler, health, sendingHealth, buckets, requester, level },
    ...{ finished, outbox, destinations, directory, learning, pauses, disabling, settling, attempts },
    ...{ claiming, dispatcher, discovery, renewal, redriving, maintenance, learn },
  };
}
