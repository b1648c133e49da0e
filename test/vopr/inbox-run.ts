import {
  createInbox,
  createWorker,
  type Inbox,
  type InboxDelivery,
  type InboxEvent,
  type InboxOptions,
  type InboxStore,
  RetryAfter,
  Unrecoverable,
} from '@webhook-backpressure/inbox';
import { checkHistory } from '@webhook-backpressure/core/testing';
import { MemoryState, MemoryStore } from '../core/inbox/shared-memory.ts';
import { faultyStore, type StoreTroubles } from './faulty-store.ts';
import { Senders } from './senders.ts';
import type { Act, CallFault, Plan } from './plan.ts';
import { StoreLedger } from './store-ledger.ts';
import { strangeValues } from './strange-values.ts';
import { Process, World } from './world.ts';

/** Without faults, everything must be handled within this time: retries, leases, probes of an outage and clocks included. */
const DRAIN_MS = 4 * 3_600_000;
/** Then every inbox must know what the store holds: calls that are never answered are given up. */
const LEARN_MS = 90_000;

/** What a run has shown. */
export interface Outcome {
  /** Empty: nothing is wrong. */
  readonly failures: readonly string[];
  readonly world: World;
}

interface Running {
  readonly process: Process;
  readonly inbox: Inbox;
}

/** Runs receivers and workers on one store, as a plan says. */
export async function runInboxes(plan: Plan): Promise<Outcome> {
  const run = new InboxRun(plan);
  await run.run();
  return { failures: run.failures(), world: run.world };
}

class InboxRun {
  readonly world: World;
  readonly #plan: Plan;
  readonly #state = new MemoryState();
  readonly #ledger: StoreLedger;
  readonly #senders: Senders;
  readonly #running: (Running | undefined)[] = [];
  readonly #starts: number[] = [];
  readonly #tries = new Map<string, number>();
  readonly #faultOfCall = new Map<string, CallFault>();
  readonly #troubles: StoreTroubles;
  readonly #hasWallJumps: boolean;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.world = new World(plan.seed);
    this.#ledger = new StoreLedger(this.world);
    this.#hasWallJumps = plan.faults.some(({ what }) => what === 'wall-jumps');
    for (const fault of plan.faults) {
      if (fault.what === 'call') this.#faultOfCall.set(`${String(fault.process)} ${String(fault.call)}`, fault.how);
    }
    this.#troubles = {
      isSynchronous: plan.isSynchronous,
      awayUntilMs: 0,
      faultOf: (process, call) =>
        this.#faultOfCall.get(`${process.name.split('.', 1)[0] ?? ''} ${String(call)}`),
    };
    this.#senders = new Senders(this.world, plan.deliveries, () => this.#receiver());
  }

  async run(): Promise<void> {
    const { world } = this;
    const { deliveries, faults, calmMs, redrives } = this.#plan;
    const { capacity, ordered } = this.#plan.options;
    const limits = { type: 'limits', capacity, ordered };
    world.see(limits);
    world.commit({ ...limits, exclusive: true });
    for (const at of this.#plan.roles.keys()) this.#start(at);
    for (const one of deliveries) this.#senders.expect(one);
    for (const fault of faults) if (fault.what !== 'call') world.after(fault.atMs, () => this.#break(fault));
    await world.passUntil(calmMs, () => world.nowMs >= calmMs);
    world.isCalm = true;
    this.#troubles.awayUntilMs = 0;
    for (const running of this.#running) running?.process.resume();
    for (const at of this.#plan.roles.keys()) if (this.#running[at] === undefined) this.#start(at);
    // Each receiver finds out that the store works.
    for (const [at, running] of this.#running.entries()) {
      if (this.#plan.roles[at] === 'worker' || running === undefined) continue;
      const last = { key: 'a', atMs: 1, habit: 'fixed:1', maxAttempts: 1, isRepeated: false, acts: [] };
      this.#senders.expect({ ...last, id: `d${String(1000 + at)}` }, running);
    }
    if (!(await this.#drain())) return;
    if (redrives && this.#state.deadLetters.size > 0) {
      const { inbox } = this.#running.at(-1) as Running;
      void inbox.deadLetters.redrive('all').catch((error: unknown) => world.wrong.push(`redrive: ${String(error)}`));
      await world.passUntil(LEARN_MS, () => false);
      if (!(await this.#drain())) return;
    }
    await world.passUntil(LEARN_MS, () => false);
    this.#compare();
    await this.#close();
  }

  failures(): string[] {
    const { world } = this;
    const seen = checkHistory(world.seen).filter(
      // A delivery may get its result without a handler, while that of a worker that has lost it still runs.
      ({ rule }) => rule !== 'foreign',
    );
    const reported = checkHistory(world.reported).filter(({ rule }) => rule === 'totals');
    return [
      ...seen.map((one) => `seen ${one.rule}: ${one.message} (${one.events.join(', ')})`),
      ...checkHistory(world.committed).map((one) => `store ${one.rule}: ${one.message} (${one.events.join(', ')})`),
      ...reported.map((one) => `inbox ${one.rule}: ${one.message}`),
      ...world.wrong.map((what) => `wrong: ${what}`),
    ];
  }

  async #drain(): Promise<boolean> {
    const { world } = this;
    const isDone = (): boolean => this.#senders.areDone && this.#state.unfinished.size === 0;
    const isDrained = await world.passUntil(DRAIN_MS, isDone);
    if (!isDrained) {
      const left = `${String(this.#state.unfinished.size)} deliveries are unfinished, and ${String(this.#senders.open)} senders wait`;
      world.wrong.push(`Nothing fails any more, but ${left}.`);
    }
    for (const { delivery } of this.#state.unfinished) {
      const event = { type: 'pending', key: delivery.key, id: delivery.id };
      world.see(event);
      world.commit(event);
    }
    return isDrained;
  }

  /** The inboxes know what the store holds. */
  #compare(): void {
    const { world } = this;
    const { size } = this.#state.deadLetters;
    for (const [at, running] of this.#running.entries()) {
      const { depth, bytes, active, deadLetters, retained, isStoreFailing } = (running as Running).inbox.snapshot();
      const is = { depth, bytes, active, deadLetters, retained, isStoreFailing };
      const of = { depth: 0, bytes: 0, active: 0, deadLetters: size, retained: this.#state.kept.size, isStoreFailing: false };
      if (JSON.stringify(is) !== JSON.stringify(of))
        world.wrong.push(`Inbox ${String(at)} reports ${JSON.stringify(is)} instead of ${JSON.stringify(of)}.`);
    }
    const counts = { pending: 0 };
    world.see({ type: 'totals', counts });
    const { inFlight } = this.#state.stats();
    if (inFlight !== 0) world.wrong.push(`${String(inFlight)} claims are left.`);
  }

  async #close(): Promise<void> {
    const { world } = this;
    for (const running of this.#running) {
      if (running === undefined) continue;
      this.#reportTotals(running);
      let isClosed = false;
      void running.inbox.close().then(() => (isClosed = true));
      if (!(await world.passUntil(60_000, () => isClosed))) world.wrong.push('An inbox does not close.');
      this.#expectNoTimers(running.process);
    }
    await world.passUntil(LEARN_MS + 1, () => false);
  }

  /** A request that is answered while the inbox closes may leave one for a while. */
  #expectNoTimers(process: Process): void {
    const { world } = this;
    world.after(LEARN_MS, () => {
      if (process.timers > 0) world.wrong.push(`${String(process.timers)} timers are left.`);
    });
  }

  #reportTotals({ process, inbox }: Running): void {
    const { world } = this;
    const { totals } = inbox.snapshot();
    const { stored, duplicate, conflict, overflow, started, completed, dead, lost, overdue, discarded } = totals;
    const counts = { stored, duplicate, conflict, overflow, started, completed, dead, lost, overdue, discarded };
    const all = { ...counts, 'dead-letters-full': totals.deadLettersFull, 'store-failed': totals.storeFailures };
    world.reported.push({ type: 'totals', atMs: world.nowMs, worker: process.name, counts: all });
  }

  #start(at: number): void {
    const { world } = this;
    const { roles, options } = this.#plan;
    const starts = (this.#starts[at] = (this.#starts[at] ?? -1) + 1);
    const process = new Process(world, `${String(at)}.${String(starts)}`);
    // Its calls are counted on, so that a fault happens once.
    const before = this.#calls[at];
    if (before !== undefined) process.calls = before.calls;
    this.#calls[at] = process;
    const store = faultyStore(new MemoryStore(this.#state), world, process, this.#ledger, this.#troubles);
    const { name: worker } = process;
    const { batches } = options;
    if (batches === 0) world.see({ type: 'limits', worker, concurrency: options.concurrency });
    for (const key of ['a', 'b', 'c', 'd']) {
      const limit = options.limits?.[key];
      if (options.maxConcurrencyPerKey !== undefined && batches === 0)
        world.see({ type: 'limits', worker, key, concurrency: options.maxConcurrencyPerKey });
      if (limit?.perSecond !== undefined)
        world.see({ type: 'limits', worker, key, perSecond: limit.perSecond, burst: limit.burst });
      if (limit?.maxConcurrent !== undefined)
        world.commit({ type: 'limits', key, concurrency: limit.maxConcurrent });
    }
    if (options.maxStartsPerSecond !== undefined && batches === 0) {
      // A late start is made up for within 100 ms.
      const burst = 2 + options.maxStartsPerSecond / 10;
      world.see({ type: 'limits', worker, perSecond: options.maxStartsPerSecond, burst });
    }
    let inbox: Inbox;
    try {
      inbox = this.#create(roles[at] ?? 'both', store, process);
    } catch {
      // A file that cannot be opened ends the process, which is started again.
      process.isDead = true;
      world.see({ type: 'died', worker });
      world.after(1000, () => {
        if (this.#running[at] === undefined) this.#start(at);
      });
      return;
    }
    inbox.subscribe((event: InboxEvent) => {
      world.note();
      if (!process.isDead) world.reported.push({ ...event, atMs: world.nowMs, worker });
    });
    this.#running[at] = { process, inbox };
  }

  readonly #calls: Process[] = [];

  #create(role: string, store: InboxStore, process: Process): Inbox {
    const { world } = this;
    const { options } = this.#plan;
    const shared = {
      store,
      clock: process.clock,
      wallClock: () => world.wallMs,
      random: () => world.dice.random(),
      capacity: options.capacity,
    };
    const receiving = {
      verify: false as const,
      keyGenerator: ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => headers['x-key'],
      overflow: options.overflow,
      maxDeadLetters: options.maxDeadLetters,
    };
    const working: Partial<InboxOptions<never>> = {
      concurrency: options.concurrency,
      maxHandlingMs: options.maxHandlingMs,
      maxStartsPerSecond: options.maxStartsPerSecond,
      maxConcurrencyPerKey: options.maxConcurrencyPerKey,
      maxDeadLetters: options.maxDeadLetters,
      keepCompletedMs: options.keepCompletedMs,
      ordered: options.ordered,
      retry: { attempts: options.attempts, firstDelayMs: 1000, maxDelayMs: 30_000 },
      ...(options.coalesces && { coalesce: ({ id }: InboxDelivery) => String(Number(id.slice(1)) % 3) }),
      ...(options.limits !== undefined && { limits: (key: string) => options.limits?.[key] }),
      ...(options.batches === 0
        ? { process: (delivery, { signal }) => this.#handle([delivery], signal, process) }
        : {
            processBatch: (all, { signal }) => this.#handle(all, signal, process),
            batch: { maxDeliveries: options.batches },
          }),
    };
    if (role === 'receiver') return createInbox({ ...shared, ...receiving });
    if (role === 'worker') return createWorker({ ...shared, ...working });
    return createInbox({ ...shared, ...receiving, ...working });
  }

  #handle(all: readonly InboxDelivery[], signal: AbortSignal, process: Process): Promise<void> | undefined {
    const { world } = this;
    const { name: worker } = process;
        for (const { key, id } of all)
      world.see({ type: 'started', key, id, worker: this.#ledger.nameOfRun(worker, id) });
    const [{ id }] = all as readonly [InboxDelivery];
    const tries = this.#tries.get(id) ?? 0;
    for (const one of all) this.#tries.set(one.id, (this.#tries.get(one.id) ?? 0) + 1);
    signal.addEventListener('abort', () => {
      for (const one of all) world.see({ type: 'ended', key: one.key, id: one.id, worker });
    });
    const act: Act = (!world.isCalm ? this.#senders.actOf(id, tries) : undefined) ?? { does: 'succeeds', ms: 5 };
    const { does, ms } = act;
    if (does === 'blocks') {
      // The event loop stands still: time passes, and no timer runs.
      world.clock.jump(ms);
      return undefined;
    }
    if (does === 'throws-anything' && ms % 2 === 0) throw world.dice.of(strangeValues)();
    return new Promise((resolve, reject) => {
      if (does === 'hangs') return;
      world.after(ms, () => {
        process.do(() => {
          if (does === 'succeeds') resolve();
          else if (does === 'fails') reject(new Error('it failed'));
          else if (does === 'gives-up') reject(new Unrecoverable('never'));
          else if (does === 'asks-for-later') reject(this.#later(id, worker, all.length, signal));
          else reject(world.dice.of(strangeValues)() as Error);
        });
      });
    });
  }

  #later(id: string, worker: string, count: number, signal: AbortSignal): RetryAfter {
    const { world } = this;
    const seconds = world.dice.whole(0, 20);
    const { coalesces, batches } = this.#plan.options;
    if (count === 1 && !signal.aborted && !this.#hasWallJumps && !coalesces && batches === 0) {
      // Another worker that has taken the delivery over does not know of it.
      // The store keeps whole milliseconds.
      this.#ledger.askedFor(`${worker} ${id}`, world.nowMs + seconds * 1000 - 1);
    }
    return new RetryAfter(seconds);
  }

  #receiver(): Running | undefined {
    const able = this.#running.filter(
      (one, at) => one !== undefined && this.#plan.roles[at] !== 'worker',
    ) as Running[];
    return able.length === 0 ? undefined : this.world.dice.of(able);
  }

  #break(fault: Exclude<Plan['faults'][number], { readonly what: 'call' }>): void {
    const { world } = this;
    if (world.isCalm) return;
    if (fault.what === 'store-away') this.#troubles.awayUntilMs = world.nowMs + fault.forMs;
    else if (fault.what === 'wall-jumps') world.wallAheadMs += fault.byMs;
    else {
      const running = this.#running[fault.process];
      if (running === undefined) return;
      const { process, inbox } = running;
      if (fault.what === 'stops') {
        process.stop(fault.forMs);
        return;
      }
      this.#running[fault.process] = undefined;
      const restart = (): void => {
        if (this.#running[fault.process] === undefined) this.#start(fault.process);
      };
      if (fault.what === 'dies') {
        process.isDead = true;
        world.see({ type: 'died', worker: process.name });
        world.after(fault.forMs, restart);
      } else {
        process.do(() => {
          void inbox.close({ timeoutMs: fault.forMs / 2 }).then(() => {
            this.#reportTotals(running);
            world.see({ type: 'died', worker: process.name });
            this.#expectNoTimers(process);
            world.after(100, restart);
          });
        });
      }
    }
  }
}
