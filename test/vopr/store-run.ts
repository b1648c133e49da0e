import type { DeliveryRef, InboxStore } from '@webhook-backpressure/inbox';
import { checkHistory } from '@webhook-backpressure/core/testing';
import { MemoryState, MemoryStore } from '../core/inbox/shared-memory.ts';
import { faultyStore, type StoreTroubles } from './faulty-store.ts';
import { killingAct } from './killers.ts';
import { type Act, type CallFault, type Fault, type Plan, SURELY_KEPT_MS } from './plan.ts';
import { idleWorker, isSteady } from './idle-workers.ts';
import { LEARN_MS, StoreLedger } from './store-ledger.ts';
import { Process, World } from './world.ts';

/** Without faults, everything must be handled within this time: retries, leases, probes of an outage and clocks included. */
const DRAIN_HOURS = 4;

/** What a run has shown. */
export interface Outcome {
  /** Empty: nothing is wrong. */
  readonly failures: readonly string[];
  readonly world: World;
}

/** An inbox or a sender. */
export interface Service {
  close(timeoutMs?: number): Promise<unknown>;
  redriveAll(): Promise<unknown>;
  /** Changes its `concurrency`, if it has that. */
  tune?(concurrency: number): void;
  /** Its totals, by the types of the events that they count. */
  totals(): Readonly<Record<string, number>>;
  /** What it reports of the store, and what it should. */
  compare(state: MemoryState): readonly [is: object, shouldBe: object];
}

/** A service in a process. */
export interface Running<S extends Service> {
  readonly process: Process;
  readonly service: S;
}

/** What a kind of run adds: clients that deliver something, and services that handle it. */
export interface Parts<S extends Service> {
  readonly areClientsDone: () => boolean;
  readonly begin: (at: number) => void;
  /** Each service gets something, and finds out that the store works. */
  readonly probe: (running: Running<S>, at: number) => void;
  /** @throws what creating it throws, such as a store that cannot be opened: the process ends. */
  readonly create: (at: number, store: InboxStore, process: Process) => S;
}

/** Runs services on one store, as a plan says. */
export class StoreRun<S extends Service> {
  readonly world: World;
  readonly plan: Plan;
  readonly ledger: StoreLedger;
  readonly running: (Running<S> | undefined)[] = [];
  readonly #state = new MemoryState();
  readonly #starts: number[] = [];
  readonly #latest: Process[] = [];
  readonly #tries = new Map<string, number>();
  readonly #troubles: StoreTroubles;
  readonly #parts: Parts<S>;

  constructor(plan: Plan, parts: (run: StoreRun<S>) => Parts<S>) {
    this.plan = plan;
    this.world = new World(plan.seed);
    this.world.isFaultless = plan.faults.length === 0;
    this.ledger = new StoreLedger(this.world, plan);
    const faults = new Map<string, CallFault>();
    for (const fault of plan.faults) {
      if (fault.what === 'call') faults.set(`${String(fault.process)} ${String(fault.call)}`, fault.how);
    }
    this.#troubles = {
      isSynchronous: plan.isSynchronous,
      awayUntilMs: 0,
      faultOf: (process, call) => faults.get(`${process.name.split('.', 1)[0] ?? ''} ${String(call)}`),
    };
    this.#parts = parts(this);
  }

  async run(): Promise<Outcome> {
    const { world, plan } = this;
    const { capacity, ordered } = plan.options;
    const limits = { type: 'limits', capacity, ordered };
    world.see(limits);
    world.commit({ ...limits, exclusive: true });
    for (const at of plan.roles.keys()) this.#start(at);
    for (const [at] of plan.deliveries.entries()) this.#parts.begin(at);
    for (const fault of plan.faults) {
      if (fault.what !== 'call' && fault.what !== 'kills')
        world.after(fault.atMs, () => {
          this.#break(fault);
        });
    }
    await world.passUntil(plan.calmMs, () => world.nowMs >= plan.calmMs);
    world.isCalm = true;
    this.#troubles.awayUntilMs = 0;
    for (const running of this.running) running?.process.resume();
    for (const at of plan.roles.keys()) if (this.running[at] === undefined) this.#start(at);
    for (const [at, running] of this.running.entries())
      if (running !== undefined) this.#parts.probe(running, at);
    if (await this.#drain()) await this.#end();
    return { failures: this.#failures(), world };
  }

  /** What the handler or endpoint does this time. */
  nextAct({ key, id }: DeliveryRef): Act {
    const name = `${key} ${id}`;
    const tries = this.#tries.get(name) ?? 0;
    this.#tries.set(name, tries + 1);
    const planned = this.plan.deliveries.find((one) => one.key === key && one.id === id);
    const act = killingAct(this.plan, { key, id }) ?? planned?.acts[tries];
    return (this.world.isCalm ? undefined : act) ?? { does: 'succeeds', ms: 5 };
  }

  /** A service that is alive, of those that may be asked. */
  pick(mayBeAsked: (at: number) => boolean): Running<S> | undefined {
    const able = this.running.filter((one, at) => one !== undefined && mayBeAsked(at)) as Running<S>[];
    return able.length === 0 ? undefined : this.world.dice.of(able);
  }

  async #drain(): Promise<boolean> {
    const { world } = this;
    const { unfinished } = this.#state;
    const isDone = (): boolean => this.#parts.areClientsDone() && unfinished.size === 0;
    const { deadLetters } = this.#state;
    let isDrained = false;
    for (let hours = 0; !isDrained && hours < DRAIN_HOURS; hours += 1) {
      isDrained = await world.passUntil(3_600_000, isDone);
      // Deliveries without an attempt left wait for room among the dead letters.
      if (!isDrained && deadLetters.size >= (this.plan.options.maxDeadLetters ?? Infinity)) this.#redrive();
    }
    if (!isDrained) {
      const clients = this.#parts.areClientsDone() ? 'no client' : 'a client';
      world.wrong.push(
        `Nothing fails any more, but ${String(unfinished.size)} deliveries are unfinished, and ${clients} waits.`,
      );
    }
    for (const { delivery } of unfinished) {
      const event = { type: 'pending', key: delivery.key, id: delivery.id };
      world.see(event);
      world.commit(event);
    }
    return isDrained;
  }

  #redrive(): void {
    const redriven = this.running.at(-1)?.service.redriveAll();
    redriven?.catch((error: unknown) => this.world.wrong.push(`redrive: ${String(error)}`));
  }

  async #end(): Promise<void> {
    const { world, plan } = this;
    if (plan.redrives && this.#state.deadLetters.size > 0) {
      this.#redrive();
      await world.passUntil(LEARN_MS, () => false);
      if (!(await this.#drain())) return;
    }
    // Without faults and delays, a process knows immediately what it has stored.
    if (plan.isSynchronous && plan.faults.length === 0) {
      await world.passUntil(1000, () => false);
      this.#compare();
    }
    await world.passUntil(LEARN_MS, () => false);
    this.#compare();
    world.see({ type: 'totals', counts: { pending: 0 } });
    const { inFlight } = this.#state.stats();
    if (inFlight !== 0) world.wrong.push(`${String(inFlight)} claims are left.`);
    for (const running of this.running) {
      if (running === undefined) continue;
      let isClosed = false;
      void this.#close(running, undefined).then(() => (isClosed = true));
      if (!(await world.passUntil(60_000, () => isClosed))) world.wrong.push('A service does not close.');
    }
    await world.passUntil(LEARN_MS + 1, () => false);
  }

  #compare(): void {
    const { world, ledger } = this;
    const { size } = this.#state.kept;
    if (world.nowMs < SURELY_KEPT_MS && size !== ledger.kept)
      world.wrong.push(`${String(size)} completed deliveries are kept instead of ${String(ledger.kept)}.`);
    for (const [at, running] of this.running.entries()) {
      const { service, process } = running as Running<S>;
      const totals = service.totals();
      const { completed, lost, knownLost } = ledger.tallyOf(process.name);
      const [state, stateOfStore] = service.compare(this.#state);
      const is = { ...state, completed: totals['completed'] ?? totals['sender delivered'] };
      const shouldBe = { ...stateOfStore, completed };
      if (JSON.stringify(is) !== JSON.stringify(shouldBe))
        world.wrong.push(
          `Process ${String(at)} reports ${JSON.stringify(is)} instead of ${JSON.stringify(shouldBe)}.`,
        );
      const reported = totals['lost'] ?? totals['sender lost'] ?? 0;
      // After a failover, a worker may lose two claims of the same name.
      const isTooMany = reported > lost.size && ledger.forgottenIds.size === 0;
      if (isTooMany || reported < knownLost.size)
        world.wrong.push(
          `Process ${String(at)} reports ${String(reported)} lost claims, has lost ${String(lost.size)}, and knows of ${String(knownLost.size)}.`,
        );
    }
  }

  #failures(): string[] {
    const { world } = this;
    const seen = checkHistory(world.seen).filter(({ rule, events }) => {
      // A delivery may get its result without a handler, while that of a worker that has lost it still runs.
      if (rule === 'foreign') return false;
      const { id = '' } = world.seen[events.at(-1) ?? 0] ?? {};
      // A process learns later that it has lost a claim. The ledger checks its handlers; a request cannot be taken back.
      if (rule === 'running' && this.ledger.strandedIds.has(id)) return false;
      return (rule !== 'running' && rule !== 'settled') || !this.ledger.forgottenIds.has(id);
    });
    const idle = isSteady(this.plan) ? idleWorker(this.plan, world.seen) : undefined;
    if (idle !== undefined) world.wrong.push(idle);
    const reported = checkHistory(world.reported).filter(({ rule }) => rule === 'totals');
    return [
      ...seen.map((one) => `seen ${one.rule}: ${one.message} (${one.events.join(', ')})`),
      ...checkHistory(world.committed).map(
        (one) => `store ${one.rule}: ${one.message} (${one.events.join(', ')})`,
      ),
      ...reported.map((one) => `reported ${one.rule}: ${one.message}`),
      ...world.wrong.map((what) => `wrong: ${what}`),
    ];
  }

  #start(at: number): void {
    const { world } = this;
    const starts = (this.#starts[at] = (this.#starts[at] ?? -1) + 1);
    const process = new Process(world, `${String(at)}.${String(starts)}`);
    // Its calls are counted on, so that a fault happens once.
    process.calls = this.#latest[at]?.calls ?? 0;
    this.#latest[at] = process;
    const inner = new MemoryStore(this.#state);
    const store = faultyStore(inner, world, process, this.ledger, this.#troubles);
    try {
      this.running[at] = { process, service: this.#parts.create(at, store, process) };
    } catch {
      this.die(process, 1000);
    }
  }

  /** A process dies, and is started again after some time. */
  die(process: Process, forMs: number): void {
    if (process.isDead) return;
    const at = this.#latest.indexOf(process);
    process.isDead = true;
    this.ledger.gone(process.name, false);
    this.running[at] = undefined;
    this.world.see({ type: 'died', worker: process.name });
    this.world.after(forMs, () => {
      if (this.running[at] === undefined) this.#start(at);
    });
  }

  async #close({ process, service }: Running<S>, timeoutMs: number | undefined): Promise<void> {
    const { world } = this;
    await service.close(timeoutMs);
    world.reported.push({
      type: 'totals',
      atMs: world.nowMs,
      worker: process.name,
      counts: service.totals(),
    });
    world.see({ type: 'died', worker: process.name });
    this.ledger.gone(process.name, true);
    // A request that is answered while it closes may leave one for a while.
    world.after(LEARN_MS, () => {
      if (process.timers > 0) world.wrong.push(`${String(process.timers)} timers are left.`);
    });
  }

  #break(fault: Exclude<Fault, { readonly what: 'call' | 'kills' }>): void {
    const { world } = this;
    if (world.isCalm) return;
    if (fault.what === 'store-away') this.#troubles.awayUntilMs = world.nowMs + fault.forMs;
    else if (fault.what === 'wall-jumps') world.wallAheadMs += fault.byMs;
    else {
      const { process: at } = fault;
      const running = this.running[at];
      if (running === undefined) return;
      const { process } = running;
      if (fault.what === 'tunes') {
        process.do(() => {
          running.service.tune?.(fault.concurrency);
        });
        return;
      }
      const { forMs } = fault;
      if (fault.what === 'stops') process.stop(forMs);
      else if (fault.what === 'dies') this.die(process, forMs);
      else {
        this.running[at] = undefined;
        process.do(() => {
          void this.#close(running, forMs / 2).then(() => {
            if (this.running[at] === undefined) this.#start(at);
          });
        });
      }
    }
  }
}
