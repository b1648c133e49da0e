import type {
  Admission,
  CloseReport,
  Delivery,
  IntakeEvent,
  IntakeOptions,
  IntakeSnapshot,
  Permit,
  Refusal,
  RefusalReason,
  Tunable,
} from '@webhook-backpressure/core';
import { expect } from 'vitest';
import { balances, createBench, reactions, type Bench } from '../harness.ts';
import { activeOf, LATE_MS, must, TOLD, workersPerKey, type Ticket } from '../ticket.ts';
import { EventOrder } from '../delivery/event-order.ts';
import { TurnModel } from '../queue/turn-model.ts';

/** Drives an intake and predicts what it has to do, from the contract and from the operations so far. */
export class IntakeModel {
  readonly bench: Bench;
  readonly options: IntakeOptions & Tunable;
  readonly waiting: TurnModel<Ticket> = new TurnModel<Ticket>();
  readonly active: Ticket[] = [];
  readonly finished: Ticket[] = [];
  /** How far the clock was set back in total: timers are late by that much. */
  #setBackMs = 0;
  #isShedding = false;
  #closing: Promise<CloseReport> | undefined;
  #report: unknown;
  #seq = 0;
  readonly #order = new EventOrder();
  /** Reported events that have not been compared. */
  readonly #reported: IntakeEvent[] = [];
  /** Kept to be thrown later: errors of a listener are ignored. */
  readonly #complaints: unknown[] = [];
  readonly #startTimes: number[] = [];

  constructor(options: IntakeOptions) {
    this.options = { capacity: 8, concurrency: 2, ...options };
    this.bench = createBench(this.options);
    this.bench.intake.subscribe((event) => {
      try {
        this.#hear(event);
      } catch (complaint) {
        this.#complaints.push(complaint);
      }
    });
  }

  get nowMs(): number {
    return this.bench.clock.now() + this.#setBackMs;
  }

  get snapshot(): IntakeSnapshot {
    return this.bench.intake.snapshot();
  }

  async admit(delivery: Delivery): Promise<void> {
    const before = this.snapshot;
    const expected = this.#expect(delivery, before);
    this.#order.arrivals += 1;
    const result = this.bench.intake.admit(delivery);
    await reactions();
    // A displaced delivery leaves before the new one joins; everything else happens later.
    this.#replay((event) => event.type === 'withdrawn' && event.cause === 'displaced');
    if (!result.admitted) {
      expect(expected, `refused: ${result.reason}`).toContain(result.reason);
      expect(Number.isInteger(result.retryAfterSeconds) && result.retryAfterSeconds >= 1).toBe(true);
    } else {
      expect(expected, 'admitted').toContain('admitted');
      const { depth } = this.snapshot;
      expect(depth).toBeLessThanOrEqual(Math.max(before.depth, before.effectiveCapacity));
      this.#join(delivery, result);
    }
    await this.check();
  }

  /** Compares what happened with the prediction, after each command. */
  async check(): Promise<void> {
    await reactions();
    this.#replay(() => true);
    const { depth, active, keys, state, concurrency } = this.snapshot;
    must(depth === this.waiting.size, 'depth', depth, this.waiting.size);
    must(active === this.active.length, 'active', active, this.active.length);
    must(keys === this.waiting.keys, 'keys', keys, this.waiting.keys);
    this.#order.check(this.snapshot);
    if (!balances(this.snapshot))
      throw new Error(`the totals do not add up: ${JSON.stringify(this.snapshot)}`);
    if (state === 'accepting' || state === 'shedding') {
      must((state === 'shedding') === this.#isShedding, 'state', state, this.#isShedding);
    }
    if (depth > 0 && active < concurrency && this.#mayStart(concurrency)) this.#expectPaced();
    if (state === 'closed') return;
    const lateMs = LATE_MS + this.#setBackMs;
    for (const { expiresMs } of this.waiting.all) must(this.nowMs <= expiresMs + lateMs, 'expiry', expiresMs);
    for (const { overdueMs } of this.active) must(this.nowMs <= overdueMs + lateMs, 'overdue', overdueMs);
  }

  release(ticket: Ticket, outcome: 'success' | 'failure'): void {
    const { completed, failed } = this.snapshot.totals;
    if (ticket.result?.admitted !== true) throw new Error('it has no permit');
    ticket.result.release(outcome);
    this.#end(ticket);
    const isSuccess = outcome === 'success';
    expect(this.snapshot.totals).toMatchObject({
      completed: completed + (isSuccess ? 1 : 0),
      failed: failed + (isSuccess ? 0 : 1),
    });
  }

  leave(ticket: Ticket): void {
    ticket.hasLeft = true;
    ticket.admission.leave();
  }

  update(changes: Tunable): void {
    this.bench.intake.update(changes);
    Object.assign(this.options, changes);
  }

  async jump(ms: number): Promise<void> {
    const { clock, intake } = this.bench;
    // Read before and after, since only a clock that is read can be seen to go back.
    intake.snapshot();
    clock.jump(ms);
    if (ms < 0) this.#setBackMs -= ms;
    intake.snapshot();
    // Timers that the jump has passed are due now.
    clock.advance(0);
    await this.check();
  }

  close(timeoutMs: number): void {
    this.#closing ??= this.bench.intake.close({ timeoutMs });
  }

  /** Ends everything, and checks that nothing is left. */
  async finish(): Promise<void> {
    for (let ticket = this.active[0]; ticket !== undefined; ticket = this.active[0]) {
      this.release(ticket, 'success');
      await this.check();
    }
    this.close(50);
    for (let i = 0; i < 40 && this.snapshot.state !== 'closed'; i += 1) {
      this.bench.clock.advance(50 + this.#setBackMs);
      await this.check();
    }
    expect(await this.#closing).toEqual(this.#report);
    for (const ticket of [...this.active]) this.release(ticket, 'failure');
    expect(this.snapshot).toMatchObject({ state: 'closed', depth: 0, active: 0, keys: 0, oldestWaitMs: 0 });
    expect(this.bench.clock.pending).toBe(0);
  }

  /** Every answer that the contract allows. */
  #expect(delivery: Delivery, before: IntakeSnapshot): (RefusalReason | 'admitted')[] {
    const { depth, effectiveCapacity, highWater, lowWater, drainRate, keys, active, concurrency } = before;
    const { key = 'default', priority, retries, maxWaitMs = Infinity } = delivery;
    if (this.#closing !== undefined) return ['closing'];
    if (this.options.shed?.[key] === true) return ['shed'];
    const free = workersPerKey(this.options, concurrency) - activeOf(this.active, key);
    // Deliveries of keys at their limit are not overtaken.
    const canStartNow = active < concurrency && free > 0 && !this.#mayStart(concurrency);
    if (canStartNow && this.options.maxStartsPerSecond === undefined) return ['admitted'];
    const turnMs = drainRate === null ? 0 : 1000 / drainRate;
    const held = this.waiting.sizeOf(key);
    // The model does not know how long the handlers of a key take.
    const isBound = this.options.maxConcurrencyPerKey !== undefined;
    const isBusy = isBound && (maxWaitMs < Infinity || held >= free);
    const mayBeTooLong = isBusy || (depth + 1) * turnMs > maxWaitMs;
    // After a clock has gone back, timers are late, as after a standstill: a delivery may have waited already.
    const isLate = this.#setBackMs > 0 && drainRate !== null;
    const ifLong = mayBeTooLong || isLate ? (['admitted', 'wait'] as const) : (['admitted'] as const);
    const otherwise = turnMs > maxWaitMs ? (['wait'] as const) : ifLong;
    const isClosed = this.#isShedding ? depth > lowWater : depth >= highWater;
    if (!isClosed || this.options.overflow === 'drop-oldest')
      return canStartNow ? ['admitted', ...otherwise] : [...otherwise];
    const all = held === 0 ? keys + 1 : keys;
    const isSmall = held + 1 < lowWater / all / 2;
    if (priority !== 'critical' && retries !== false && !isSmall) {
      const refused = depth >= effectiveCapacity ? 'full' : 'shedding';
      return canStartNow ? [refused, 'admitted'] : [refused];
    }
    const mayDisplace = retries === false && (held + 1) * all <= depth;
    if (depth >= effectiveCapacity) return canStartNow || mayDisplace ? ['full', 'admitted'] : ['full'];
    // How the reserve is shared has its own tests.
    return depth < highWater ? [...otherwise] : [...otherwise, 'full', 'shedding'];
  }

  #join(delivery: Delivery, admission: Admission): void {
    const { key = 'default', maxWaitMs = Infinity } = delivery;
    const waitMs = Math.min(this.options.maxWaitMs ?? 10_000, maxWaitMs);
    const ticket: Ticket = {
      seq: this.#seq++,
      key,
      admission,
      admittedMs: this.nowMs,
      expiresMs: this.nowMs + waitMs,
      overdueMs: Infinity,
      hasLeft: false,
    };
    this.waiting.push(ticket);
    const { permit } = admission;
    const settle = (result: Permit | Refusal): void => {
      ticket.result = result;
    };
    if (permit instanceof Promise) void permit.then(settle);
    else settle(permit);
  }

  /** Applies the reported events in order, and checks that each is allowed. */
  #replay(isMeant: (event: IntakeEvent) => boolean): void {
    if (this.#complaints.length > 0) throw this.#complaints[0];
    while (this.#reported[0] !== undefined && isMeant(this.#reported[0])) {
      const event = this.#reported.shift() as IntakeEvent;
      if (event.type === 'started') this.#start(event);
      if (event.type === 'withdrawn') this.#withdraw(event);
      if (event.type === 'overdue') {
        const late = this.active.find(({ key, overdueMs }) => key === event.key && overdueMs <= event.at);
        if (late === undefined) throw new Error('overdue too early, or not at all');
        this.#end(late);
      }
    }
  }

  #start({ key, waitedMs, at }: IntakeEvent & { type: 'started' }): void {
    // The order of turns depends on handling times, and has its own tests.
    const ticket = this.waiting.firstOf(key);
    if (ticket === undefined) throw new Error(`nothing of ${key} waits`);
    this.waiting.remove(ticket);
    must(ticket.result?.admitted === true, 'the first of its key', ticket.result?.admitted, true);
    must(at === ticket.admittedMs + waitedMs, 'the start', at, ticket.admittedMs + waitedMs);
    must(at === ticket.admittedMs || at < ticket.expiresMs, 'in time', at, ticket.expiresMs);
    const most = workersPerKey(this.options, this.snapshot.concurrency);
    must(activeOf(this.active, key) < most, 'workers of its key', activeOf(this.active, key), most);
    ticket.overdueMs = at + (this.options.maxHandlingMs ?? 60_000);
    this.active.push(ticket);
  }

  #withdraw({ key, cause, at }: IntakeEvent & { type: 'withdrawn' }): void {
    const wasTold = ({ result, hasLeft }: Ticket): boolean =>
      result?.admitted === false && (hasLeft ? cause === 'abandoned' : result.reason === TOLD[cause]);
    const ticket = this.waiting.all.find((one) => one.key === key && wasTold(one));
    if (ticket === undefined) throw new Error(`no delivery was withdrawn as ${cause}`);
    // Earlier only if it is known not to start in time, which takes some completions.
    const { completed, failed } = this.snapshot.totals;
    const isKnown = completed + failed >= 3;
    const { admittedMs, expiresMs } = ticket;
    const leastMs = this.#setBackMs > 0 ? (expiresMs - admittedMs) / 2 : expiresMs - admittedMs;
    if (cause === 'expired')
      must(isKnown || at >= admittedMs + leastMs, 'not too early', at, admittedMs + leastMs);
    this.waiting.remove(ticket);
    this.finished.push(ticket);
  }

  #end(ticket: Ticket): void {
    const at = this.active.indexOf(ticket);
    if (at < 0) return;
    this.active.splice(at, 1);
    this.finished.push(ticket);
  }

  #hear(event: IntakeEvent): void {
    expect(event.at).toBeLessThanOrEqual(this.nowMs);
    this.#order.hear(event);
    const { depth, highWater, lowWater } = this.snapshot;
    if (event.type === 'shedding' || event.type === 'accepting') {
      this.#isShedding = !this.#isShedding;
      expect(event.type === 'shedding').toBe(this.#isShedding);
      expect(event.depth).toBe(depth);
      if (this.#isShedding) expect(depth).toBeGreaterThanOrEqual(highWater);
      else expect(depth).toBeLessThanOrEqual(lowWater);
    }
    if (event.type === 'started') this.#startTimes.push(event.at);
    if (event.type === 'started' || event.type === 'withdrawn' || event.type === 'overdue') {
      this.#reported.push(event);
    }
    if (event.type === 'closed') {
      const { completed, refused, remaining } = event;
      this.#report = { completed, refused, remaining };
      expect(remaining).toBe(this.snapshot.active);
    }
  }

  /** Whether a queued delivery's key may have another worker. */
  #mayStart(concurrency: number): boolean {
    const most = workersPerKey(this.options, concurrency);
    return this.waiting.all.some(({ key }) => activeOf(this.active, key) < most);
  }

  /** A worker may be free while deliveries are queued only because the next start is not due. */
  #expectPaced(): void {
    const rate = this.options.maxStartsPerSecond;
    if (typeof rate !== 'number')
      throw new Error('a worker is free, a delivery is queued, and starts are not paced');
    const last = this.#startTimes.at(-1) ?? -Infinity;
    expect(last + 1000 / rate + this.#setBackMs).toBeGreaterThan(this.nowMs - 0.001);
    expect(this.bench.clock.pending).toBeGreaterThan(0);
  }
}
