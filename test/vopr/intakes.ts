import { createIntake, type Intake, type Permit, type Refusal } from '@webhook-backpressure/core';
import { checkHistory } from '@webhook-backpressure/core/testing';
import { type Fleet, type FleetRegistry, joinFleet, memoryRegistry } from '@webhook-backpressure/fleet';
import { type Habit, parseHabit } from '@webhook-backpressure/planner/parts';
import { Bookings } from './bookings.ts';
import { faultyRegistry } from './faulty-registry.ts';
import type { Act, CallFault, Plan, PlannedDelivery } from './plan.ts';
import type { Outcome } from './store-run.ts';
import { Process, World } from './world.ts';

const MAX_WAIT_MS = 10_000;
/** By timers. */
const LATE_MS = 120;

interface Member {
  readonly process: Process;
  readonly intake: Intake;
  readonly fleet: Fleet | undefined;
  readonly bookings: Bookings;
  /** The numbers of the admitted deliveries of each key that have not started, in order. */
  readonly lines: Map<string, number[]>;
}

/** Runs intakes that share a limit, and their senders, as a plan says. */
export async function runIntakes(plan: Plan): Promise<Outcome> {
  const run = new IntakeRun(plan);
  await run.run();
  return { failures: run.failures(), world: run.world };
}

class IntakeRun {
  readonly world: World;
  readonly #plan: Plan;
  readonly #registry: FleetRegistry;
  readonly #members: (Member | undefined)[] = [];
  readonly #starts: number[] = [];
  readonly #faults = new Map<string, CallFault>();
  #registryAwayUntilMs = 0;
  #open = 0;
  #admissions = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.world = new World(plan.seed);
    this.world.isFaultless = plan.faults.length === 0;
    this.#registry = memoryRegistry(this.world.clock);
    for (const fault of plan.faults) {
      if (fault.what === 'call')
        this.#faults.set(`${String(fault.process)} ${String(fault.call)}`, fault.how);
    }
  }

  async run(): Promise<void> {
    const { world } = this;
    const { deliveries, faults, calmMs, roles } = this.#plan;
    for (const at of roles.keys()) this.#start(at);
    // An intake does not know which ids were handled.
    for (const [at, one] of deliveries.entries())
      this.#begin({ ...one, id: `${one.id}-${String(at)}`, acts: [...one.acts] });
    for (const fault of faults) {
      if (fault.what !== 'call' && fault.what !== 'kills')
        world.after(fault.atMs, () => {
          this.#break(fault);
        });
    }
    await world.passUntil(calmMs, () => world.nowMs >= calmMs);
    world.isCalm = true;
    this.#registryAwayUntilMs = 0;
    for (const at of roles.keys()) {
      this.#members[at]?.process.resume();
      if (this.#members[at] === undefined) this.#start(at);
    }
    if (!(await world.passUntil(4 * 3_600_000, () => this.#open === 0)))
      world.wrong.push(`Nothing fails any more, but ${String(this.#open)} deliveries are not handled.`);
    await world.passUntil(60_000, () => false);
    this.#compare();
    for (const member of this.#members) if (member !== undefined) await this.#close(member);
  }

  failures(): string[] {
    const { world } = this;
    return [
      ...checkHistory(world.seen).map((one) => `seen ${one.rule}: ${one.message} (${one.events.join(', ')})`),
      ...checkHistory(world.reported).map((one) => `reported ${one.rule}: ${one.message}`),
      ...world.wrong.map((what) => `wrong: ${what}`),
    ];
  }

  #start(at: number): void {
    const { world } = this;
    const { options, roles } = this.#plan;
    const { concurrency, capacity, maxHandlingMs, maxConcurrencyPerKey, maxStartsPerSecond } = options;
    const starts = (this.#starts[at] = (this.#starts[at] ?? -1) + 1);
    const process = new Process(world, `${String(at)}.${String(starts)}`);
    const { name: worker } = process;
    const random = (): number => world.dice.random();
    const limits = { capacity, concurrency, maxHandlingMs, maxConcurrencyPerKey, maxStartsPerSecond };
    const intake = createIntake({ clock: process.clock, random, maxWaitMs: MAX_WAIT_MS, ...limits });
    world.limit(worker, this.#plan);
    intake.subscribe((event) => {
      world.note();
      world.reported.push({ type: `intake ${event.type}`, atMs: world.nowMs, worker });
    });
    const registry = faultyRegistry(this.#registry, world, process, {
      faultOf: (call) => this.#faults.get(`${String(at)} ${String(call)}`),
      isAway: () => world.nowMs < this.#registryAwayUntilMs,
    });
    const fleet = roles.length > 1 ? joinFleet(intake, { registry, resource: 'db', concurrency }) : undefined;
    const bookings = new Bookings(world, intake, process, roles.length === 1);
    this.#members[at] = { process, intake, fleet, bookings, lines: new Map() };
  }

  #begin(planned: PlannedDelivery): void {
    this.#open += 1;
    const habit = parseHabit('habit', planned.habit === 'none' ? 'retry-after' : planned.habit);
    this.world.after(planned.atMs, () => {
      this.#attempt(planned, habit, 1);
    });
  }

  #attempt(planned: PlannedDelivery, habit: Habit, attempts: number): void {
    const { world } = this;
    const alive = this.#members.filter((one) => one !== undefined && !one.process.isStopped) as Member[];
    const again = (retryAfterS?: number, status?: number): void => {
      const random = (): number => world.dice.random();
      const delayS = habit({ attempts, retryAfterS, status, ageS: 0 }, random) ?? 60;
      world.after(Math.min(60, delayS) * 1000, () => {
        this.#attempt(planned, habit, attempts + 1);
      });
    };
    if (alive.length === 0) {
      again();
      return;
    }
    const member = world.dice.of(alive);
    const { key, id } = planned;
    const result = member.bookings.admit(key, id);
    this.#look(member);
    if (!result.admitted) {
      this.#checkRefusal(result);
      again(result.retryAfterSeconds, result.status);
      return;
    }
    const number = this.#admissions++;
    const line = member.lines.get(key) ?? [];
    member.lines.set(key, line);
    line.push(number);
    const admittedMs = world.nowMs;
    const blockedMs = world.blockedMs;
    const granted = (permit: Permit | Refusal): void => {
      world.note();
      if (member.process.isDead) return;
      const waitedMs = world.nowMs - admittedMs;
      if (waitedMs > MAX_WAIT_MS + LATE_MS + world.blockedMs - blockedMs)
        world.wrong.push(`${id} waited ${String(waitedMs)} ms.`);
      const isFirst = line[0] === number;
      line.splice(line.indexOf(number), 1);
      if (!permit.admitted) {
        this.#checkRefusal(permit);
        member.bookings.withdrawn(id);
        again(permit.retryAfterSeconds, permit.status);
        return;
      }
      if (!isFirst) world.wrong.push(`${id} of the key ${key} overtook another.`);
      const act = (planned.acts as Act[]).shift();
      this.#handle(
        member,
        planned,
        permit,
        (world.isCalm ? undefined : act) ?? { does: 'succeeds', ms: 50 },
        again,
      );
    };
    let isOver = false;
    const unlessAnswered = (): void => {
      if (member.process.isDead && !isOver) again();
      else if (!isOver) world.after(5000, unlessAnswered);
    };
    world.after(5000, unlessAnswered);
    const settled = (permit: Permit | Refusal): void => {
      if (!member.process.isDead) isOver = true;
      granted(permit);
    };
    if (result.permit instanceof Promise) void result.permit.then(settled);
    else settled(result.permit);
  }

  #handle(member: Member, planned: PlannedDelivery, permit: Permit, act: Act, again: () => void): void {
    const { world } = this;
    const { key, id } = planned;
    const { process } = member;
    const { name: worker } = process;
    world.see({ type: 'started', key, id, worker });
    let isOver = false;
    const end = (isSuccess: boolean): void => {
      if (isOver) return;
      isOver = true;
      if (process.isDead) {
        again();
        return;
      }
      world.see({ type: isSuccess ? 'completed' : 'failed', key, id, worker });
      permit.release(isSuccess ? 'success' : 'failure');
      this.#look(member);
      if (isSuccess) this.#open -= 1;
      else again();
    };
    permit.signal.addEventListener('abort', () => {
      end(false);
    });
    if (act.does === 'blocks') world.block(act.ms);
    if (act.does === 'hangs') {
      // The process may die before it is overdue.
      world.after(120_000, () => {
        end(false);
      });
      return;
    }
    world.after(act.ms, () => {
      end(act.does === 'succeeds' || act.does === 'blocks');
    });
  }

  #checkRefusal({ retryAfterSeconds: seconds }: Refusal): void {
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > 900)
      this.world.wrong.push(`A refusal has the Retry-After ${String(seconds)}.`);
  }

  #look({ intake }: Member): void {
    const { depth, capacity, active, totals } = intake.snapshot();
    const { admitted, completed, failed, withdrawn } = totals;
    const { used, limit } = this.#shares;
    if (this.world.isFaultless && used > limit)
      this.world.wrong.push(`The shares are ${String(used)} of ${String(limit)}.`);
    if (depth > capacity) this.world.wrong.push(`The depth is ${String(depth)} of ${String(capacity)}.`);
    if (admitted !== completed + failed + active + depth + sumOf(withdrawn))
      this.world.wrong.push(`The totals do not add up: ${JSON.stringify({ depth, active, totals })}.`);
  }

  /** How much of the limit the members use together, or may. */
  get #shares(): { readonly used: number; readonly limit: number } {
    const shares = this.#members.map((one) => one?.intake.snapshot().concurrency ?? 0);
    const limit = Math.max(this.#plan.options.concurrency, shares.length);
    return { used: shares.reduce((sum, share) => sum + share, 0), limit };
  }

  #compare(): void {
    const { world } = this;
    for (const member of this.#members) {
      if (member === undefined) continue;
      const { depth, active, state } = member.intake.snapshot();
      const is = JSON.stringify({ depth, active, state });
      if (is !== JSON.stringify({ depth: 0, active: 0, state: 'accepting' }))
        world.wrong.push(`An idle intake reports ${is}.`);
      const fleet = member.fleet?.snapshot();
      if (fleet !== undefined && (fleet.members.length !== this.#members.length || fleet.state === 'lost'))
        world.wrong.push(`A member of the fleet reports ${JSON.stringify(fleet)}.`);
    }
    const { used, limit } = this.#shares;
    if (used !== limit) world.wrong.push(`The shares are ${String(used)} of ${String(limit)}.`);
  }

  async #close({ intake, process }: Member): Promise<void> {
    const { world } = this;
    const { started, completed, failed, refused, withdrawn, overdue } = intake.snapshot().totals;
    const counts = {
      'intake started': started,
      'intake completed': completed + failed,
      'intake refused': sumOf(refused),
      'intake withdrawn': sumOf(withdrawn),
      'intake overdue': overdue,
    };
    world.reported.push({ type: 'totals', atMs: world.nowMs, worker: process.name, counts });
    let isClosed = false;
    void intake.close({ timeoutMs: 1000 }).then(() => (isClosed = true));
    if (!(await world.passUntil(60_000, () => isClosed))) world.wrong.push('An intake does not close.');
    await world.passUntil(60_000, () => false);
    if (process.timers > 0) world.wrong.push(`${String(process.timers)} timers are left.`);
  }

  #break(fault: Exclude<Plan['faults'][number], { readonly what: 'call' }>): void {
    const { world } = this;
    if (world.isCalm) return;
    if (fault.what === 'store-away') this.#registryAwayUntilMs = world.nowMs + fault.forMs;
    if (fault.what !== 'dies' && fault.what !== 'closes') return;
    const member = this.#members[fault.process];
    if (member === undefined) return;
    // What an intake holds is lost with its process, and its senders know. A stop only delays.
    member.process.isDead = true;
    this.#members[fault.process] = undefined;
    world.see({ type: 'died', worker: member.process.name });
    world.after(fault.forMs, () => {
      if (this.#members[fault.process] === undefined) this.#start(fault.process);
    });
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
