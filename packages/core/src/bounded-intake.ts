import { Alarm } from './alarm.ts';
import { checkDelivery, keyOf, type Delivery } from './delivery.ts';
import { Deadlines } from './deadlines.ts';
import { DrainRate } from './drain-rate.ts';
import { invalid } from './errors.ts';
import { Listeners, type EventBody, type Listener, type Outcome, type WithdrawalCause } from './events.ts';
import { FairQueue } from './fair-queue.ts';
import { effectiveCapacity, Gate } from './gate.ts';
import type { CloseReport, Intake } from './intake.ts';
import { Ledger } from './ledger.ts';
import { updateSettings, type Fixtures, type Settings, type Tunable } from './options.ts';
import { Pacer } from './pacer.ts';
import { Place, type Admission, type PlaceOwner } from './place.ts';
import { createRefusal, type Refusal, type RefusalReason } from './refusal.ts';
import { Reserve } from './reserve.ts';
import { retryAfterDepth, retryAfterShed, retryAfterUnknown } from './retry-after.ts';
import type { IntakeSnapshot, IntakeState } from './snapshot.ts';
import { holdsShare, statusOf } from './status.ts';
import { WorkerPool } from './worker-pool.ts';

const NOTHING_KNOWN: Delivery = {};
const CLOSE_TIMEOUT_MS = 10_000;
const MAX_CLOSE_TIMEOUT_MS = 86_400_000;

const REASON_OF: Record<WithdrawalCause, RefusalReason> = {
  // Nobody reads this one: its sender has gone.
  abandoned: 'wait',
  expired: 'wait',
  displaced: 'displaced',
  closing: 'closing',
};

/** Composes the parts. Every rule is in one of them; the order in which they are asked is here. */
export class BoundedIntake implements Intake, PlaceOwner {
  #settings: Settings;
  readonly #fixtures: Fixtures;
  readonly #queue = new FairQueue<Place>();
  readonly #gate = new Gate();
  readonly #reserve = new Reserve<Place>(this.#queue, this.#gate);
  readonly #pool: WorkerPool;
  readonly #drain = new DrainRate();
  readonly #deadlines: Deadlines<Place>;
  readonly #ledger = new Ledger();
  readonly #listeners = new Listeners();
  #pacer: Pacer;
  readonly #paceAlarm: Alarm;
  #readingMs = -Infinity;
  /** What the clock has gone back in all. */
  #aheadMs = 0;
  /** In a dry run: handled although refused or withdrawn. */
  #outside = 0;
  #isStalled = false;
  #phase: 'open' | 'closing' | 'closed' = 'open';
  #closing: Promise<CloseReport> | undefined;
  #finishClosing: (() => void) | undefined;

  constructor(options: Settings & Fixtures) {
    this.#settings = options;
    this.#fixtures = options;
    this.#pool = new WorkerPool(options.concurrency);
    this.#pacer = new Pacer(options.drainRate);
    this.#paceAlarm = new Alarm(options.clock, this.#startPaced);
    this.#deadlines = new Deadlines<Place>(options.clock, this.#now, this.#expire, this.#watch);
    this.#measure(0);
  }

  admit(delivery: Delivery = NOTHING_KNOWN): Admission | Refusal {
    checkDelivery(delivery);
    const key = keyOf(delivery);
    const now = this.#now();
    if (this.#phase !== 'open') return this.#refuse('closing', delivery, key, now);
    const { shed } = this.#settings;
    if (shed.size > 0 && shed.has(key)) return this.#refuse('shed', delivery, key, now);
    if (this.#queue.size === 0 && this.#pool.isFree && this.#pacer.delayMs(now) === 0) {
      const place = new Place(this, key, now, Infinity);
      this.#ledger.admitted += 1;
      this.#start(place, now, false);
      return place;
    }
    const reason = this.#judge(delivery, key, now);
    return reason === null ? this.#enqueue(delivery, key, now) : this.#overflow(reason, delivery, key, now);
  }

  leave(place: Place): void {
    if (place.state === 'waiting' && !this.#fixtures.dryRun) this.#withdraw(place, 'abandoned', this.#now());
  }

  release(place: Place, outcome: Outcome): void {
    const { state } = place;
    if (state === 'ended' || (state === 'waiting' && !this.#fixtures.dryRun)) return;
    this.#end(place, outcome, this.#now());
  }

  snapshot(): IntakeSnapshot {
    const now = this.#now();
    this.#measure(now);
    const { oldest } = this.#queue;
    return {
      state: this.#state(now),
      depth: this.#queue.size,
      active: this.#pool.active + this.#outside,
      capacity: this.#settings.capacity,
      effectiveCapacity: this.#gate.effectiveCapacity,
      highWater: this.#gate.high,
      lowWater: this.#gate.low,
      concurrency: this.#settings.concurrency,
      drainRate: this.#rate(now),
      oldestWaitMs: oldest === null ? 0 : now - oldest.admittedAtMs,
      booked: 0,
      keys: this.#queue.keys,
      totals: this.#ledger.read(),
    };
  }

  update(changes: Tunable): void {
    const before = this.#settings;
    this.#settings = updateSettings(before, changes);
    const now = this.#now();
    if (this.#settings.drainRate !== before.drainRate) {
      this.#pacer = new Pacer(this.#settings.drainRate, this.#pacer);
      this.#paceAlarm.clear();
    }
    this.#pool.resize(this.#settings.concurrency);
    this.#dispatch(now);
    this.#judgeGate(now);
    if (this.#listeners.any) {
      const options = Object.keys(changes).filter((name) => changes[name as keyof Tunable] !== undefined);
      this.#emit(now, { type: 'updated', options });
    }
  }

  subscribe(listener: Listener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    return this.#listeners.add(listener);
  }

  close(options: { timeoutMs?: number | undefined } = {}): Promise<CloseReport> {
    const { timeoutMs = CLOSE_TIMEOUT_MS } = options;
    if (!(typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= MAX_CLOSE_TIMEOUT_MS)) {
      throw invalid('ERR_WBP_CLOSE', 'timeoutMs', 'a number of milliseconds from 0 to 86400000', timeoutMs);
    }
    if (this.#closing === undefined) {
      let resolve: ((report: CloseReport) => void) | undefined;
      this.#closing = new Promise((settle) => {
        resolve = settle;
      });
      // Not inside the promise: a listener that hears of the end may call close again and must find it there.
      this.#beginClosing(timeoutMs, (report) => resolve?.(report));
    }
    return this.#closing;
  }

  /** Why the delivery cannot wait here, or null when it can. */
  #judge(delivery: Delivery, key: string, now: number): RefusalReason | null {
    this.#judgeGate(now);
    // A listener may have closed the intake at what the gate reported.
    if (this.#phase !== 'open') return 'closing';
    if (this.#gate.shedding) {
      const answer = this.#reserve.ask(key, isEntitled(delivery), now, this.#settings.maxWaitMs);
      if (answer !== 'open') return answer;
    }
    return this.#waitsTooLong(delivery, now) ? 'wait' : null;
  }

  /** Whether the predicted wait is longer than the delivery's sender waits. */
  #waitsTooLong({ maxWaitMs }: Delivery, now: number): boolean {
    if (maxWaitMs === undefined) return false;
    const rate = this.#rate(now);
    return rate !== null && ((this.#queue.size + 1) / rate) * 1000 > maxWaitMs;
  }

  #enqueue(delivery: Delivery, key: string, now: number): Admission {
    const waitMs = Math.min(this.#settings.maxWaitMs, delivery.maxWaitMs ?? Infinity);
    const place = new Place(this, key, now, now + waitMs, delivery.statusCode);
    if (!this.#fixtures.dryRun) place.wait();
    this.#ledger.admitted += 1;
    this.#queue.push(place);
    if (this.#gate.shedding) this.#reserve.take(place, isEntitled(delivery));
    this.#deadlines.set(place, place.expiresAtMs, now);
    this.#dispatch(now);
    this.#judgeGate(now);
    return place;
  }

  #overflow(reason: RefusalReason, delivery: Delivery, key: string, now: number): Admission | Refusal {
    if (this.#settings.overflow === 'refuse' || reason === 'wait' || reason === 'closing') {
      return this.#refuse(reason, delivery, key, now);
    }
    if (this.#waitsTooLong(delivery, now)) return this.#refuse('wait', delivery, key, now);
    const { size } = this.#queue;
    if (size >= this.#gate.high) {
      // A key that holds its share or more pushes out its own, so that a noisy one does not drain the others.
      const line = holdsShare(key, this.#queue) ? this.#queue.lineOf(key) : undefined;
      const oldest = line === undefined ? this.#queue.oldest : line.first;
      if (oldest !== null) this.#withdraw(oldest, 'displaced', now);
      // A listener that heard of it may have closed the intake, or let another in to the place that came free.
      if (this.#phase !== 'open') return this.#refuse('closing', delivery, key, now);
      if (this.#queue.size >= size) return this.#refuse('full', delivery, key, now);
    }
    return this.#enqueue(delivery, key, now);
  }

  #refuse(reason: RefusalReason, delivery: Delivery, key: string, now: number): Admission | Refusal {
    const refusal = this.#refusal(reason, delivery.statusCode, key, now);
    this.#ledger.refused[reason] += 1;
    if (this.#listeners.any) {
      const { status, retryAfterSeconds } = refusal;
      this.#emit(now, { type: 'refused', reason, status, retryAfterSeconds, key });
    }
    if (!this.#fixtures.dryRun) return refusal;
    const place = new Place(this, key, now, Infinity);
    this.#ledger.admitted += 1;
    this.#runOutside(place, now);
    return place;
  }

  /** Gives the place a worker. `isTimed`: see {@link Pacer.started}. */
  #start(place: Place, now: number, isTimed: boolean): void {
    place.state = 'active';
    // In a dry run it is handled from its admission on, and the drain rate has to come from the true times.
    place.startedAtMs = this.#fixtures.dryRun ? place.admittedAtMs : now;
    place.waitedMs = place.startedAtMs - place.admittedAtMs;
    this.#pool.take();
    this.#pacer.started(now, isTimed);
    this.#deadlines.set(place, place.startedAtMs + this.#settings.maxHandlingMs, now);
    if (!this.#pool.isFree) this.#drain.saturate(now);
    this.#ledger.started += 1;
    if (this.#listeners.any) this.#emit(now, { type: 'started', key: place.key, waitedMs: place.waitedMs });
  }

  /** Only in a dry run: lets a delivery be handled that has no worker. */
  #runOutside(place: Place, now: number): void {
    place.state = 'outside';
    place.startedAtMs = place.admittedAtMs;
    this.#outside += 1;
    this.#deadlines.set(place, place.startedAtMs + this.#settings.maxHandlingMs, now);
    this.#ledger.started += 1;
  }

  /** Gives free workers what waits, as far as the pace allows. */
  #dispatch(now: number, isPaced = this.#paceAlarm.isSet): void {
    for (;;) {
      const place = this.#pool.isFree ? this.#queue.peek() : null;
      if (place === null) break;
      const delayMs = this.#pacer.delayMs(now);
      if (delayMs > 0) {
        this.#paceAlarm.set(now, delayMs);
        break;
      }
      if (now >= place.expiresAtMs) {
        this.#withdraw(place, 'expired', now);
        continue;
      }
      this.#reserve.give(place);
      this.#queue.shift();
      this.#deadlines.clear(place);
      // Settled before the start is reported: a listener may start the next one, whose turn is after this one.
      place.settle(place);
      this.#start(place, now, isPaced);
    }
    if (this.#pool.isFree) this.#drain.relax(now, this.#pool.size);
    else this.#drain.saturate(now);
  }

  readonly #startPaced = (): void => {
    const now = this.#now();
    this.#dispatch(now, true);
    this.#judgeGate(now);
  };

  /** Ends the handling of a delivery, however it came about. */
  #end(place: Place, outcome: Outcome, now: number, isOverdue = false): void {
    const { key, state } = place;
    const tookMs = now - (state === 'waiting' ? place.admittedAtMs : place.startedAtMs);
    this.#deadlines.clear(place);
    place.state = 'ended';
    if (state === 'active') {
      this.#drain.complete(now, tookMs, this.#pool.size);
      this.#pool.give();
    } else if (state === 'outside') {
      this.#outside -= 1;
    } else {
      this.#ledger.started += 1;
      this.#reserve.give(place);
      this.#queue.remove(place);
    }
    this.#ledger[outcome === 'success' ? 'completed' : 'failed'] += 1;
    if (this.#listeners.any) {
      if (isOverdue) this.#emit(now, { type: 'overdue', key, heldMs: tookMs });
      this.#emit(now, { type: 'completed', key, tookMs, outcome });
    }
    this.#recover(now);
    this.#dispatch(now);
    if (this.#gate.shedding) this.#judgeGate(now);
    this.#finishIfEmpty();
  }

  /** Takes a delivery out that waits, and tells it why. */
  #withdraw(place: Place, cause: WithdrawalCause, now: number): void {
    const refusal = this.#refusal(REASON_OF[cause], place.statusCode, place.key, now);
    this.#deadlines.clear(place);
    this.#reserve.give(place);
    this.#queue.remove(place);
    if (this.#fixtures.dryRun) {
      this.#runOutside(place, now);
    } else {
      place.state = 'ended';
      this.#ledger.withdrawn[cause] += 1;
      place.settle(refusal);
    }
    if (this.#listeners.any) {
      this.#emit(now, { type: 'withdrawn', key: place.key, cause, waitedMs: now - place.admittedAtMs });
    }
    if (this.#gate.shedding) this.#judgeGate(now);
    this.#finishIfEmpty();
  }

  /** A deadline has come: of the wait, or of the handling. */
  readonly #expire = (place: Place, now: number): void => {
    if (place.state === 'waiting') {
      this.#withdraw(place, 'expired', now);
    } else if (place.state !== 'ended') {
      this.#ledger.overdue += 1;
      this.#end(place, 'failure', now, true);
    }
  };

  readonly #watch = (now: number): void => {
    if (this.#isStalled || !this.#drain.isStalled(now)) return;
    this.#isStalled = true;
    this.#emit(now, { type: 'stalled', gapMs: this.#drain.gapMs(now) });
  };

  #recover(now: number): void {
    if (!this.#isStalled) return;
    this.#isStalled = false;
    this.#emit(now, { type: 'recovered' });
  }

  #refusal(reason: RefusalReason, statusCode: 429 | 503 | undefined, key: string, now: number): Refusal {
    const fixed = statusCode ?? this.#settings.statusCode;
    const status = fixed === 'auto' ? statusOf(reason, key, this.#queue) : fixed;
    return createRefusal(reason, status, this.#retryAfter(reason, now));
  }

  #retryAfter(reason: RefusalReason, now: number): number {
    const { retryAfter } = this.#settings;
    const { random } = this.#fixtures;
    if (reason === 'closing') return retryAfterUnknown(retryAfter, random);
    if (reason === 'shed') return retryAfterShed(retryAfter, random);
    return retryAfterDepth(retryAfter, this.#queue.size, this.#rate(now), random);
  }

  #rate(now: number): number | null {
    const rate = this.#drain.rate(now, this.#pool.size);
    return rate === null ? null : Math.min(rate, this.#pacer.rate ?? Infinity);
  }

  #measure(now: number): void {
    const { capacity, maxWaitMs, highWaterMark, lowWaterMark } = this.#settings;
    this.#gate.resize(effectiveCapacity(capacity, maxWaitMs, this.#rate(now)), highWaterMark, lowWaterMark);
  }

  #judgeGate(now: number): void {
    this.#measure(now);
    const depth = this.#queue.size;
    if (!this.#gate.judge(depth)) return;
    this.#emit(now, { type: this.#gate.shedding ? 'shedding' : 'accepting', depth });
  }

  #state(now: number): IntakeState {
    if (this.#phase !== 'open') return this.#phase;
    if (this.#drain.isStalled(now)) return 'stalled';
    return this.#gate.shedding ? 'shedding' : 'accepting';
  }

  #beginClosing(timeoutMs: number, resolve: (report: CloseReport) => void): void {
    this.#phase = 'closing';
    const { clock } = this.#fixtures;
    const done = (): number => this.#ledger.completed + this.#ledger.failed;
    const doneBefore = done();
    const finish = (): void => {
      this.#finishClosing = undefined;
      clock.clearTimeout(timer);
      const now = this.#now();
      const refused = this.#refuseWaiting(now);
      this.#phase = 'closed';
      this.#deadlines.stop();
      this.#paceAlarm.clear();
      this.#pool.close();
      const remaining = this.#pool.active + this.#outside;
      const report = { completed: done() - doneBefore, refused, remaining };
      this.#emit(now, { type: 'closed', ...report });
      resolve(report);
    };
    const timer = clock.setTimeout(finish, timeoutMs);
    this.#finishClosing = finish;
    this.#finishIfEmpty();
  }

  #finishIfEmpty(): void {
    if (this.#finishClosing === undefined) return;
    if (this.#queue.size + this.#pool.active + this.#outside === 0) this.#finishClosing();
  }

  #refuseWaiting(now: number): number {
    const before = this.#ledger.withdrawn.closing;
    for (let place = this.#queue.peek(); place !== null; place = this.#queue.peek()) {
      this.#withdraw(place, 'closing', now);
    }
    return this.#ledger.withdrawn.closing - before;
  }

  readonly #now = (): number => {
    const readingMs = this.#fixtures.clock.now();
    // A clock that went back would turn waits negative. To wait for it to catch up would stop every deadline and
    // every paced start, so time goes on from where it was.
    if (readingMs < this.#readingMs) this.#aheadMs += this.#readingMs - readingMs;
    this.#readingMs = readingMs;
    return readingMs + this.#aheadMs;
  };

  #emit(at: number, body: EventBody): void {
    this.#listeners.emit(at, body);
  }
}

/** Whether the delivery may use the reserve on its own account. */
function isEntitled(delivery: Delivery): boolean {
  return delivery.priority === 'critical' || delivery.retries === false;
}
