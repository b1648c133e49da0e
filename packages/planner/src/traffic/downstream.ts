import type { Service, Scenario } from '../scenario/scenario.ts';
import type { Interval } from '../scenario/scenario-input.ts';
import { type Traffic, startsPerSecondOf, workersOf } from './traffic.ts';

/** A part of the run with one speed. */
export interface Phase {
  readonly fromMs: number;
  /** The number in service up to which speed is full. More share the speed of this many. */
  readonly knee: number;
  /** As a share of full speed: 0 during a standstill, 0.1 while all deliveries take ten times as long. */
  readonly speed: number;
}

/**
 * The downstream of the workers. Each delivery has a service time: how long it takes at full speed. With more
 * deliveries in service than the knee, the speed is knee ÷ number in service, so that latency rises linearly and
 * throughput stays the same. In slow phases the speed is a part of full speed, and in a standstill 0.
 *
 * All deliveries in service have the same speed at any time. So there is one clock of served time, and a delivery ends
 * when that clock reaches its start plus its service time: a change of speed does not touch the deliveries.
 */
export class Downstream {
  readonly #phases: readonly Phase[];
  #phase = 0;
  #nowMs = 0;
  #servedMs = 0;
  /** Ordered by `endsAt`, the next to end last. A short list: at most one entry per worker. */
  readonly #inService: { id: number; endsAt: number }[] = [];

  constructor(service: Service) {
    this.#phases = phasesOf(service);
  }

  get inService(): number {
    return this.#inService.length;
  }

  start(id: number, serviceMs: number, nowMs: number): void {
    this.#advance(nowMs);
    const endsAt = this.#servedMs + serviceMs;
    const list = this.#inService;
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle] as { endsAt: number }).endsAt > endsAt) low = middle + 1;
      else high = middle;
    }
    list.splice(low, 0, { id, endsAt });
  }

  /** When the next delivery ends if no other starts; Infinity if none is in service. */
  nextMs(): number {
    const first = this.#inService.at(-1);
    if (first === undefined) return Infinity;
    let leftMs = first.endsAt - this.#servedMs;
    let atMs = this.#nowMs;
    for (let index = this.#phase; ; index += 1) {
      const speed = this.#speed(index);
      const untilMs = this.#phases[index + 1]?.fromMs ?? Infinity;
      if (speed > 0 && atMs + leftMs / speed <= untilMs) return atMs + leftMs / speed;
      leftMs -= (untilMs - atMs) * speed;
      atMs = untilMs;
    }
  }

  /** Removes the delivery that ends at the time that {@link nextMs} returned. */
  end(nowMs: number): number {
    this.#advance(nowMs);
    const { id, endsAt } = this.#inService.pop() as { id: number; endsAt: number };
    this.#servedMs = endsAt;
    return id;
  }

  #advance(nowMs: number): void {
    for (;;) {
      const untilMs = Math.min(nowMs, this.#phases[this.#phase + 1]?.fromMs ?? Infinity);
      this.#servedMs += (untilMs - this.#nowMs) * this.#speed(this.#phase);
      this.#nowMs = untilMs;
      if (untilMs === nowMs) return;
      this.#phase += 1;
    }
  }

  #speed(index: number): number {
    const { knee, speed } = this.#phases[index] as Phase;
    return this.#inService.length <= knee ? speed : (speed * knee) / this.#inService.length;
  }
}

export function phasesOf({ standStill = [], slow = [], knee = [] }: Service): Phase[] {
  const starts = new Set([
    0,
    ...knee.map(({ fromS }) => fromS),
    ...[...standStill, ...slow].flatMap(({ fromS, toS }) => [fromS, toS]),
  ]);
  return [...starts]
    .sort((a, b) => a - b)
    .map((fromS) => ({
      fromMs: fromS * 1000,
      knee: knee.findLast((one) => one.fromS <= fromS)?.concurrency ?? Infinity,
      speed: standStill.some((one) => isDuring(one, fromS))
        ? 0
        : slow.filter((one) => isDuring(one, fromS)).reduce((speed, { factor }) => speed / factor, 1),
    }));
}

function isDuring({ fromS, toS }: Interval, atS: number): boolean {
  return fromS <= atS && atS < toS;
}

/** The result of the same deliveries, workers and service times without a gate, first in, first out. */
export interface Ideal {
  /** The last completion; NaN without one. */
  readonly clearMs: number;
  /** The intervals in which deliveries are queued: in order and disjoint. */
  readonly waitingFromMs: readonly number[];
  readonly waitingToMs: readonly number[];
  /** Deliveries that found the queue full and were rejected permanently. */
  readonly rejected: number;
}

/**
 * Runs the traffic without a gate.
 *
 * @param places - the capacity of the queue; Infinity for an unbounded queue. With the capacity of the intake, the
 * rejected deliveries are those that no policy could serve in time.
 */
export function runIdeal(scenario: Scenario, { firstMs, serviceMs }: Traffic, places: number): Ideal {
  const workers = workersOf(scenario);
  const spacingMs = 1000 / startsPerSecondOf(scenario);
  // Nothing starts or ends while the process is frozen.
  const { standStill = [] } = scenario.service;
  const freeze = scenario.process?.freeze ?? [];
  const downstream = new Downstream({ ...scenario.service, standStill: [...standStill, ...freeze] });
  const queue: number[] = [];
  const waitingFromMs: number[] = [];
  const waitingToMs: number[] = [];
  let head = 0;
  let arrived = 0;
  let mayStartMs = 0;
  let clearMs = NaN;
  let rejected = 0;

  for (let now = 0; ;) {
    while (head < queue.length && downstream.inService < workers && mayStartMs <= now) {
      const i = queue[head++] as number;
      downstream.start(i, serviceMs[i] as number, now);
      mayStartMs = now + spacingMs;
    }
    const isWaiting = head < queue.length;
    const wasWaiting = waitingFromMs.length > waitingToMs.length;
    if (isWaiting !== wasWaiting) (isWaiting ? waitingFromMs : waitingToMs).push(now);

    const startMs = isWaiting && downstream.inService < workers ? mayStartMs : Infinity;
    const endMs = downstream.nextMs();
    const arrivalMs = firstMs[arrived] ?? Infinity;
    now = Math.min(startMs, endMs, arrivalMs);
    if (now === Infinity) return { clearMs, waitingFromMs, waitingToMs, rejected };
    if (endMs <= now) {
      downstream.end(now);
      clearMs = now;
    } else if (arrivalMs <= now) {
      if (queue.length - head < places || downstream.inService < workers) queue.push(arrived);
      else rejected += 1;
      arrived += 1;
    }
  }
}
