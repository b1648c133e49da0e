import type {
  Awaitable,
  DeadLetters,
  OpenedStore,
  StoredDelivery,
  StoreStats,
} from '@webhook-backpressure/inbox';
import type {
  Endpoints,
  ObservableOutbox,
  Rate,
  OutboxCloseReport,
  OutboxHandle,
  OutboxListener,
  OutboxSnapshot,
} from '@webhook-backpressure/observe';
import { checkInteger, checkNumber, DAY_MS, invalid, isThenable } from '@webhook-backpressure/base';
import { limitOf } from '@webhook-backpressure/fleet';
import {
  CommitWatch,
  deadLetters,
  LeaseRenewal,
  Maintenance,
  Redriving,
  Retention,
  StoreOpening,
} from '@webhook-backpressure/inbox/store';
import { Discovery } from './dispatch/discovery.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import type { Claim } from './dispatch/settling.ts';
import { Stops } from './dispatch/stops.ts';
import { EndpointDirectory } from './endpoints/directory.ts';
import { permitted } from './endpoints/permissions.ts';
import { checkEndpoint, checkEndpointId, type EndpointSettings } from './options/endpoint-settings.ts';
import { settle, type SenderOptions } from './options/sender-options.ts';
import { storedEvent, type OutgoingEvent, type SendResult } from './outbox/outgoing-event.ts';
import { Outbox } from './outbox/outbox.ts';
import { SenderContext } from './outbox/sender-context.ts';
import { fetchRequester } from './requests/fetch-requester.ts';
import type { Requester } from './requests/request.ts';
import { undiciRequester } from './requests/undici-requester.ts';
import { OutboxView } from './sender-view.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** The time that the store gets to release everything, after the timeout of the requests. */
const STORE_TIMEOUT_MS = 2000;
/** How many endpoints a call of `endpoints.list` returns by default. */
const DEFAULT_LIMIT = 100;

/** Sends webhooks from a durable outbox. */
export interface Sender extends ObservableOutbox {
  /** Resolves when the store is open, or the sender closes before. Never rejects. */
  readonly opened: Promise<void>;
  /**
   * Stores an event, and resolves when it is committed: it is delivered at least once from then on. While the outbox is full,
   * the call waits for room, or rejects, by `whenFull`.
   *
   * With `client` the event is stored within a transaction of the application, and is delivered once that is committed.
   * The promise resolves when the statement has run. The call never waits: it throws `ERR_WBP_SEND_FULL` without room, and
   * `ERR_WBP_SENDER_STORE` before the store is open. Such an event is not counted as accepted, and not reported, since
   * whether its transaction is committed is unknown.
   *
   * @param options - `signal`: ends the wait for the store to open, or for room. An event that is being stored stays.
   * `client`: of `postgresStore`, a client of `pg` that has run `BEGIN`, or a function `(text, values)` that runs a statement
   * in the transaction and resolves to its rows, or to an object with `rows`; of `sqliteStore`, a connection to the same file,
   * with which the event is stored, or the call has thrown, when it returns.
   * @throws BackpressureError (as a rejection, with `client` also synchronously) `ERR_WBP_TRANSACTION` when the client
   * cannot be used. Then the transaction must be rolled back.
   */
  send(
    event: OutgoingEvent,
    options?: { signal?: AbortSignal | undefined; client?: unknown },
  ): Promise<SendResult>;
  /**
   * Shuts down: accepts no more events, starts no more attempts, and lets requests end until the timeout; then aborts them
   * and releases their events. Stored events wait for the next start. A second call returns the same report.
   *
   * @param options - `timeoutMs`: from 0 to 86,400,000, default 10,000.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<OutboxCloseReport>;
}

/**
 * Creates a sender, which stores events and delivers them to their endpoints. Timers and the open store do not keep the
 * process alive: call `close` before it ends. Calls of `send` that wait for room, and requests in flight, do.
 *
 * @throws BackpressureError for an invalid option, and what the store throws synchronously when it is opened.
 */
export function createSender(options: SenderOptions): Sender {
  return new DurableSender(options);
}

/** A sender: an outbox in a store, and a dispatcher that empties it. */
class DurableSender implements Sender {
  readonly opened: Promise<void>;
  readonly endpoints: Endpoints;
  readonly deadLetters: DeadLetters;
  readonly #context: SenderContext;
  readonly #requester: Requester;
  readonly #outbox: Outbox;
  readonly #stops: Stops;
  readonly #directory: EndpointDirectory;
  readonly #dispatcher: Dispatcher;
  readonly #discovery: Discovery;
  readonly #renewal: LeaseRenewal<Claim>;
  readonly #redriving: Redriving;
  readonly #maintenance: Maintenance;
  readonly #view: OutboxView;
  readonly #opening: StoreOpening;
  #closed: Promise<OutboxCloseReport> | undefined;
  #endOpening: () => void = () => undefined;

  constructor(options: SenderOptions) {
    const settings = settle(options);
    const context = (this.#context = new SenderContext(settings));
    const { store, health, scheduler, now, wallMs, report, finished, level } = context;
    this.opened = new Promise((resolve) => {
      this.#endOpening = resolve;
    });
    this.#requester =
      settings.fetch === undefined ? undiciRequester(settings) : fetchRequester(settings.fetch, settings);
    const outbox = (this.#outbox = new Outbox(context, this.opened, {
      get size() {
        return dispatcher.destinations.size;
      },
      storedOf: (id) => dispatcher.destinations.find(id)?.stored ?? 0,
      stored: (event) => {
        dispatcher.stored(event);
        report.monitor?.moved(now());
      },
      expected: (endpoint) => {
        commits.expect(endpoint);
        // Of a transaction that is committed late, its event is found as those of other processes.
        if (context.isShared) return;
        context.isShared = true;
        this.#discovery.look();
      },
    }));
    const commits = new CommitWatch<string>(scheduler, (id) => {
      dispatcher.due(id, now());
    });
    const changed = (id: string | null): void => {
      dispatcher.changed(id);
    };
    this.#stops = new Stops(context, changed);
    this.#directory = new EndpointDirectory({
      ask: (id, before) => {
        const permit = (value: unknown): Awaitable<EndpointSettings | null> => {
          const checked = checkEndpoint(value, settings);
          if (checked?.origin === undefined) return checked;
          return permitted(checked, before, this.#requester, scheduler);
        };
        const given: unknown = settings.endpoint(id);
        return isThenable(given) ? Promise.resolve(given).then(permit) : permit(given);
      },
      ttlMs: settings.endpointTtlMs,
      scheduler,
      random: settings.random,
      changed,
      failed: (endpoint, error, isKept) => {
        report.totals.endpointFailures += 1;
        report.emit({ type: 'endpoint-failed', endpoint, error, isKept });
      },
    });
    const dispatcher: Dispatcher = (this.#dispatcher = new Dispatcher(
      context,
      this.#stops,
      this.#directory,
      this.#requester,
      (id) => {
        outbox.relieve(id);
      },
    ));
    this.#discovery = new Discovery(context, (id, atMs) => {
      dispatcher.due(id, atMs);
    });
    this.#renewal = new LeaseRenewal({
      store,
      health,
      scheduler,
      now,
      wallMs,
      runs: dispatcher.settling.claims,
      lost: (claim) => {
        dispatcher.settling.lose(claim);
      },
    });
    this.#redriving = new Redriving({
      scheduler,
      report,
      finished,
      now,
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
    this.#maintenance = this.#createMaintenance();
    this.deadLetters = deadLetters({
      store,
      report,
      finished,
      redriving: this.#redriving,
      scheduler,
      now,
      wallMs,
      encryption: { decrypt: (delivery) => delivery },
    });
    this.#view = new OutboxView(context, outbox, dispatcher, this.#stops);
    this.endpoints = this.#createEndpoints();
    this.#listen();
    this.#opening = new StoreOpening({
      store,
      health,
      wallMs,
      isOrdered: undefined,
      isWanted: () => context.phase === 'opening',
      opened: this.#begin,
    });
    // Nothing is opened, so that the build of an app does not wait for it.
    if (!this.#opening.begin()) this.#endOpening();
  }

  send(
    event: OutgoingEvent,
    { signal, client }: { signal?: AbortSignal | undefined; client?: unknown } = {},
  ): Promise<SendResult> {
    if (client !== undefined) return this.#outbox.putIn(client, this.#stored(event));
    return this.#send(event, signal);
  }

  async #send(event: OutgoingEvent, signal: AbortSignal | undefined): Promise<SendResult> {
    return await this.#outbox.put(this.#stored(event), signal);
  }

  #stored(event: OutgoingEvent): StoredDelivery {
    const { settings, wall } = this.#context;
    return storedEvent(event, settings.maxEventBytes, wall.rawMs());
  }

  snapshot(): OutboxSnapshot {
    return this.#view.snapshot();
  }

  /** See `observe` of the package observe. */
  observeHandle(): OutboxHandle {
    return this.#view.observeHandle();
  }

  subscribe(listener: OutboxListener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    return this.#context.report.listeners.add(listener);
  }

  close({
    timeoutMs = DEFAULT_TIMEOUT_MS,
  }: { timeoutMs?: number | undefined } = {}): Promise<OutboxCloseReport> {
    checkNumber('ERR_WBP_CLOSE', 'timeoutMs', timeoutMs, 0, DAY_MS, 'milliseconds');
    this.#closed ??= this.#close(timeoutMs);
    return this.#closed;
  }

  readonly #begin = (opened: OpenedStore): void => {
    const context = this.#context;
    if (context.phase !== 'opening') return;
    context.phase = 'open';
    context.level.adopt(opened, context.level.ownChanges);
    this.#learn(opened);
    for (const [id, depth] of opened.depthByKey) this.#dispatcher.destinations.at(id).stored = depth;
    this.#dispatcher.begin();
    this.#discovery.look();
    this.#maintenance.begin();
    this.#renewal.begin();
    this.#endOpening();
  };

  #learn(stats: StoreStats): void {
    this.#context.finished.learn(stats);
    this.#context.oldestReceivedAtMs = stats.oldestReceivedAtMs;
    this.#stops.learn(stats.pausedKeys, stats.isPaused);
  }

  #createMaintenance(): Maintenance {
    const context = this.#context;
    const { store, health, scheduler, now, wall, wallMs, report, finished, level, settings } = context;
    const retention = new Retention({
      store,
      finished,
      now,
      wallMs,
      agedMs: () => wall.agedMs(),
      settings: () => context.finishedLimits,
      report: {
        totals: report.totals,
        emit: ({ key: endpoint, id }) => {
          report.emit({ type: 'discarded', endpoint, id });
        },
      },
    });
    return new Maintenance({
      store,
      health,
      scheduler,
      now,
      wallMs,
      retention,
      redriveMarks: undefined,
      isShared: () => context.isShared,
      // Longer than any delay that is added to it.
      maxRetryDelayMs: () => 2 * Math.max(settings.retry.maxDelayMs, settings.maxWaitMs),
      // Looking for due keys costs no claim.
      isIdle: () => true,
      isQuiet: () => !this.#dispatcher.settling.isBusy && !this.#outbox.isStoring && !this.#redriving.isBusy,
      learn: (stats, adopt, isExact) => {
        this.#learn(stats);
        if ((adopt || context.isShared) && level.adopt(stats, level.ownChanges, isExact))
          context.isShared = true;
        this.#outbox.relieve();
        return false;
      },
      learnKeys: (depthByKey) => {
        for (const one of this.#dispatcher.destinations.values())
          one.stored = depthByKey.get(one.id) ?? one.held;
      },
      wake: () => {
        if (context.isShared) this.#discovery.look();
      },
    });
  }

  /** The actions of an operator on endpoints. */
  #createEndpoints(): Endpoints {
    return {
      list: ({ limit = DEFAULT_LIMIT, offset = 0 } = {}) => {
        checkInteger('ERR_WBP_ENDPOINT', 'limit', limit, 1);
        checkInteger('ERR_WBP_ENDPOINT', 'offset', offset, 0);
        return this.#view.busiest(offset + limit).slice(offset);
      },
      get: (id) => this.#view.find(checkedId(id)),
      pause: async (id) => {
        await this.#stops.pause(checkedId(id));
      },
      resume: async (id) => {
        const wasPaused = await this.#stops.resume(checkedId(id));
        const wasDisabled = await this.#stops.enable(id);
        if (wasDisabled) {
          this.#directory.refresh(id);
          this.#dispatcher.destinations.find(id)?.learned?.health.answered();
          this.deadLetters.redrive('all', { key: id }).catch((error: unknown) => {
            this.#context.health.failed('redrive', error);
          });
        }
        // A paused endpoint is not listed among those with something due.
        if (wasPaused || wasDisabled) this.#discovery.look(true);
      },
      refresh: (id) => {
        this.#directory.refresh(checkedId(id));
      },
      setRate: (id: string, rate: Rate | null) => {
        this.#dispatcher.setLimit(checkedId(id), rate === null ? undefined : limitOf(rate));
      },
    };
  }

  /** Listens to the store and the buckets. */
  #listen(): void {
    const { store, buckets, settings, report } = this.#context;
    store.watch?.((event) => {
      if (event.type === 'warning') {
        report.emit({ ...event, type: 'store-warning' });
        return;
      }
      this.#context.isShared = true;
      this.#discovery.look();
    });
    buckets.open?.({
      clock: settings.clock,
      random: settings.random,
      listener: (event) => {
        if (event.type === 'lost') {
          const { error, processes } = event;
          report.emit({ type: 'buckets-lost', error, processes });
        } else report.emit({ type: 'buckets-restored', lostMs: event.lostMs });
      },
    });
  }

  /** Lets requests end until the timeout, then gives them up, releases their events and closes the store. */
  async #close(timeoutMs: number): Promise<OutboxCloseReport> {
    const { scheduler, buckets, report, now } = this.#context;
    const { attempts, settling } = this.#dispatcher;
    this.#context.phase = 'closing';
    this.#endOpening();
    this.#context.report.monitor?.end(now());
    this.#dispatcher.end();
    this.#directory.close();
    this.#outbox.end();
    const redriven = this.#redriving.end();
    const before = attempts.running.size;
    // Otherwise a process with nothing else to do would end before claims are released and the store is closed.
    const inTime = (work: Promise<unknown>, ms: number): Promise<unknown> =>
      Promise.race([work, scheduler.hold(ms)]);
    const done = Promise.all([attempts.idle(), this.#outbox.idle(), redriven]);
    await inTime(
      done.then(() => settling.idle()),
      timeoutMs,
    );
    this.#context.isOutOfTime = true;
    const remaining = attempts.running.size;
    attempts.abandon();
    await inTime(this.#release(), STORE_TIMEOUT_MS);
    scheduler.stop();
    buckets.close?.();
    this.#requester.close().catch(() => undefined);
    this.#context.phase = 'closed';
    const closed: OutboxCloseReport = { completed: before - remaining, remaining };
    report.emit({ type: 'closed', ...closed });
    return closed;
  }

  async #release(): Promise<void> {
    const { store, health, wallMs } = this.#context;
    this.#renewal.end();
    await Promise.all([
      this.#opening.ended(),
      this.#dispatcher.idle(),
      this.#discovery.end(),
      this.#maintenance.end(),
      this.#outbox.idle(),
    ]);
    // Claims that were in progress have been released.
    if (!health.isResting) await this.#dispatcher.settling.idle();
    try {
      await store.close(wallMs());
    } catch (error) {
      health.failed('close', error);
    }
  }
}

function checkedId(id: unknown): string {
  checkEndpointId('ERR_WBP_ENDPOINT', 'id', id);
  return id;
}
