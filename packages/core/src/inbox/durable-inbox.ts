import { DAY_MS } from '../checks.ts';
import { monotonic } from '../time/clock.ts';
import { createIntake } from '../intake/create-intake.ts';
import { invalid } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import type { IntakeState } from '../delivery/snapshot.ts';
import { Agenda } from './keeping/agenda.ts';
import { Clearing } from './operate/clearing.ts';
import { completed, pending } from './operate/contents.ts';
import type { DeadLetters } from './delivery/dead-letter-types.ts';
import { deadLetters } from './operate/dead-letters.ts';
import type { Completed, Pending } from './delivery/content-types.ts';
import { InboxDoor } from './receive/receiving.ts';
import type { InboxListener } from './report/inbox-events.ts';
import type { InboxOptions, InboxTunable } from './settings/inbox-options.ts';
import { InboxRefuser } from './receive/inbox-refuser.ts';
import { InboxReport } from './report/inbox-report.ts';
import { resolveInboxOptions, updateInboxSettings, type InboxSettings } from './settings/inbox-settings.ts';
import type { InboxStore, OpenedStore, StoreStats } from './store/inbox-store.ts';
import type { Inbox, InboxAnswer, InboxCloseReport, InboxRequest, InboxSnapshot } from './inbox.ts';
import { Level } from './keeping/level.ts';
import { Opening } from './keeping/opening.ts';
import { Pace } from './keeping/pace.ts';
import { Pauses } from './work/pauses.ts';
import { Redriving } from './operate/redriving.ts';
import { MAX_DOOR_DELAY_MS, StoreHealth } from './keeping/store-health.ts';
import { Storeroom } from './keeping/storeroom.ts';
import { Upkeep } from './operate/upkeep.ts';
import { WallTime } from './keeping/wall-time.ts';
import { Workers } from './work/workers.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** What is left for the store to let go of everything, after the handlers' time. */
const LAST_WORDS_MS = 2000;
/** The workers' intake takes a permit back only after the run itself has ended; this is the net below it. */
const BACKSTOP_MS = 60_000;

/** Composes the parts of an inbox: the door on one side, the workers on the other, and the store between them. */
export class DurableInbox implements Inbox {
  readonly pending: Pending;
  readonly deadLetters: DeadLetters;
  readonly completed: Completed;
  readonly pause: Inbox['pause'] = (...key) => this.#pauses.pause(...key);
  readonly resume: Inbox['resume'] = (...key) => this.#pauses.resume(...key);
  #settings: InboxSettings;
  #phase: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  readonly #store: InboxStore;
  readonly #now: () => number;
  readonly #wall: WallTime;
  readonly #wallMs: () => number;
  readonly #report: InboxReport;
  readonly #agenda: Agenda;
  readonly #health: StoreHealth;
  readonly #level: Level = new Level();
  readonly #intake: Intake;
  readonly #pace: Pace;
  readonly #refuser: InboxRefuser;
  readonly #door: InboxDoor;
  readonly #workers: Workers;
  readonly #upkeep: Upkeep;
  readonly #pauses: Pauses;
  readonly #opening: Opening;
  readonly #room: Storeroom;
  readonly #redriving: Redriving;
  #stats: StoreStats | undefined;
  #closed: Promise<InboxCloseReport> | undefined;

  constructor(options: InboxOptions<never>) {
    const { settings, fixtures } = resolveInboxOptions(options);
    const { store } = options;
    this.#settings = settings;
    this.#store = store;
    const now = (this.#now = monotonic(fixtures.clock));
    const wall = (this.#wall = new WallTime(fixtures.wallClock, now));
    const wallMs = (this.#wallMs = () => wall.believedMs());
    const report = (this.#report = new InboxReport(now));
    const agenda = (this.#agenda = new Agenda(fixtures.clock, now));
    const health = (this.#health = new StoreHealth(agenda, report));
    const { concurrency, drainRate } = settings.intake;
    this.#intake = createIntake({
      ...{ concurrency, drainRate, clock: fixtures.clock, random: fixtures.random },
      // What is claimed must find a place: given back for want of one, it would be claimed again at once, and so on.
      capacity: Number.MAX_SAFE_INTEGER,
      ...{ maxWaitMs: DAY_MS, highWaterMark: 1, maxHandlingMs: backstop(settings) },
    });
    this.#intake.subscribe(({ type }) => {
      if (type === 'stalled' || type === 'recovered') report.emit({ type });
    });
    this.#pace = new Pace(this.#intake);
    this.#refuser = new InboxRefuser(fixtures.random, this.#level, this.#pace, report);
    const current = (): InboxSettings => this.#settings;
    const room = (this.#room = new Storeroom(current));
    const common = { store, health, agenda, report, fixtures, now, wallMs, level: this.#level, room };
    this.#workers = new Workers({
      ...common,
      ...{ intake: this.#intake, pace: this.#pace, process: options.process, onDead: options.onDead },
      settings: current,
      relieved: this.#judge,
    });
    const look = (): void => {
      this.#workers.claims.look();
    };
    // Its own: when claims fail and puts do not, or the reverse, neither must say that all is well.
    const doorHealth = new StoreHealth(agenda, report, MAX_DOOR_DELAY_MS);
    this.#door = new InboxDoor({
      ...common,
      ...{ options, refuser: this.#refuser, settings: current, judge: this.#judge },
      health: doorHealth,
      receivedAtMs: () => wall.rawMs(),
      isOpen: () => this.#phase === 'open' || this.#phase === 'opening',
      // What can be stored but not be handled is the sender's to keep: it may find another receiver, or raise an alarm.
      isReady: () => this.#phase !== 'opening' && !doorHealth.isResting && !health.isStuck,
      stored: look,
    });
    this.#upkeep = new Upkeep({
      ...common,
      clearing: new Clearing({ ...common, agedMs: () => wall.agedMs(), settings: current }),
      lowWater: () => this.#level.lowWaterMarks,
      isQuiet: () => !this.#workers.isStoring && !this.#door.isStoring && !this.#redriving.isBusy,
      maxRetryDelayMs: () => this.#settings.retry.maxDelayMs,
      learn: this.#learn,
      learnKeys: (depthByKey) => {
        this.#level.correctKeys(depthByKey);
      },
      // Another process may have left something, or have stored something while its own workers are busy.
      look,
    });
    this.#pauses = new Pauses({
      ...common,
      paused: (key) => {
        this.#workers.giveBackWaiting(key);
      },
      // The workers look for what is due after it.
      changed: () => this.#upkeep.run(),
    });
    const redriving = (this.#redriving = new Redriving({
      ...{ ...common, settings: current, judge: this.#judge, restored: look },
    }));
    const { sealing } = fixtures;
    this.pending = pending(store, wallMs, sealing);
    this.deadLetters = deadLetters({ ...common, redriving, sealing });
    this.completed = completed(store, room, redriving, wallMs, sealing);
    this.#opening = new Opening({
      ...common,
      isOrdered: fixtures.isOrdered,
      isWanted: () => this.#phase === 'opening',
      opened: this.#begin,
    });
    this.#measure();
    this.#opening.begin();
  }

  receive(request: InboxRequest): Promise<InboxAnswer | null> {
    return this.#door.receive(request);
  }

  snapshot(): InboxSnapshot {
    this.#measure();
    this.#refuser.advance(this.#now());
    const { depth, bytes, keys, effectiveCapacity, highWater, lowWater } = this.#level;
    const { failingSinceMs, failingKeys } = this.#workers.downstream;
    const oldest = depth === 0 ? undefined : this.#stats?.oldestReceivedAtMs;
    return {
      state: this.#state(),
      depth,
      active: this.#workers.active,
      bytes,
      shelved: this.#room.shelved.count,
      shelvedBytes: this.#room.shelved.bytes,
      kept: this.#room.kept.count,
      keptBytes: this.#room.kept.bytes,
      capacity: this.#settings.intake.capacity,
      effectiveCapacity,
      maxBytes: this.#settings.maxBytes,
      highWater,
      lowWater,
      concurrency: this.#intake.snapshot().concurrency,
      drainRate: this.#pace.drainRate,
      oldestAgeMs: oldest === undefined ? 0 : Math.max(0, this.#wall.rawMs() - oldest),
      booked: this.#refuser.retryAfter.booked,
      keys,
      outageMs: failingSinceMs === undefined ? null : this.#now() - failingSinceMs,
      failingKeys,
      isPaused: this.#stats?.isPaused ?? false,
      pausedKeys: this.#stats?.pausedKeys ?? [],
      totals: this.#report.read(),
    };
  }

  update(changes: InboxTunable): void {
    const before = this.#settings;
    this.#settings = updateInboxSettings(before, changes);
    const { concurrency, drainRate } = changes;
    this.#intake.update({ concurrency, drainRate, maxHandlingMs: backstop(this.#settings) });
    this.#judge();
    this.#workers.claims.look();
    const options = Object.keys(changes).filter((name) => changes[name as keyof InboxTunable] !== undefined);
    this.#report.emit({ type: 'updated', options });
  }

  subscribe(listener: InboxListener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    return this.#report.listeners.add(listener);
  }

  close({
    timeoutMs = DEFAULT_TIMEOUT_MS,
  }: { timeoutMs?: number | undefined } = {}): Promise<InboxCloseReport> {
    if (!(typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= DAY_MS)) {
      throw invalid('ERR_WBP_CLOSE', 'timeoutMs', 'a number of milliseconds from 0 to 86,400,000', timeoutMs);
    }
    this.#closed ??= this.#shutDown(timeoutMs);
    return this.#closed;
  }

  async #shutDown(timeoutMs: number): Promise<InboxCloseReport> {
    this.#phase = 'closing';
    const { totals } = this.#report;
    const endedBefore = totals.completed + totals.failed;
    this.#workers.stopStarting();
    const put = this.#redriving.end();
    const inTime = (work: Promise<unknown>, ms: number): Promise<unknown> =>
      Promise.race([work, this.#agenda.pause(ms)]);
    await inTime(this.#workers.idle(), timeoutMs);
    const remaining = this.#workers.runs.size;
    await inTime(
      put.then(() => this.#letGo()),
      LAST_WORDS_MS,
    );
    this.#agenda.stop();
    // Not waited for: a handler that does not end holds its permit.
    void this.#intake.close({ timeoutMs: 0 });
    this.#phase = 'closed';
    const report = {
      completed: totals.completed + totals.failed - endedBefore,
      refused: 0,
      remaining,
    } as const;
    this.#report.emit({ type: 'closed', completed: report.completed, remaining });
    return report;
  }

  async #letGo(): Promise<void> {
    await this.#workers.abandon();
    await Promise.all([
      this.#opening.ended(),
      this.#door.idle(),
      this.#workers.claims.idle(),
      this.#upkeep.end(),
    ]);
    // A claim that was under way has been given back to the store, which may take a moment.
    if (!this.#health.isResting) await this.#workers.idle();
    try {
      await this.#store.close(this.#wallMs());
    } catch (error) {
      this.#health.failed('close', error);
    }
  }

  readonly #begin = (opened: OpenedStore): void => {
    this.#stats = opened;
    this.#room.learn(opened);
    this.#level.fill(opened, opened.depthByKey);
    if (this.#phase !== 'opening') return;
    this.#phase = 'open';
    this.#workers.isOpen = true;
    this.#judge();
    this.#upkeep.begin();
    this.#workers.claims.look();
  };

  readonly #learn = (stats: StoreStats, asTruth: boolean, isWhole: boolean): boolean => {
    this.#stats = stats;
    this.#room.learn(stats);
    const isShared = asTruth && this.#level.correct(stats, isWhole);
    this.#judge();
    return isShared;
  };

  #measure(): void {
    this.#level.measure(this.#settings, this.#pace.drainRate);
  }

  readonly #judge = (): void => {
    this.#measure();
    if (!this.#level.judge()) return;
    const { shedding, depth, bytes } = this.#level;
    this.#report.emit({ type: shedding ? 'shedding' : 'accepting', depth, bytes });
  };

  #state(): IntakeState {
    if (this.#phase === 'closing' || this.#phase === 'closed') return this.#phase;
    if (this.#pace.isStalled) return 'stalled';
    return this.#level.shedding ? 'shedding' : 'accepting';
  }
}

function backstop({ intake }: InboxSettings): number {
  return Math.min(DAY_MS, intake.maxHandlingMs + BACKSTOP_MS);
}
