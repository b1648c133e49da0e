import { exponential, seeded } from '../harness.ts';

export type Noise = 'constant' | 'uniform' | 'exponential';

/** The behavior from `fromS` on. Absent fields keep their values. */
export interface Phase {
  readonly fromS: number;
  /** The concurrency up to which speed is full. Beyond it, latency rises linearly and throughput stays the same. */
  readonly knee?: number;
  /** The mean service time at full speed. */
  readonly meanMs?: number;
  /** Arrivals as a multiple of the downstream's throughput. */
  readonly overload?: number;
  readonly failureShare?: number;
}

/** The limits under test, which learn from each completion. Absent: no limit. */
export interface Controls {
  readonly concurrency?: () => number;
  readonly startsPerSecond?: () => number;
  readonly complete: (nowMs: number, tookMs: number, isFailure: boolean, active: number) => void;
}

export interface Scenario {
  readonly seed: number;
  readonly noise: Noise;
  readonly seconds: number;
  /** The first phase starts at 0. Default: knee 25, 100 ms, 3 times overload, no failures. */
  readonly phases?: readonly Phase[];
}

export interface Completion {
  readonly atMs: number;
  readonly tookMs: number;
}

export interface Run {
  readonly completions: readonly Completion[];
  /** The concurrency limit, or otherwise the rate, every 100 ms. */
  readonly settings: readonly number[];
}

const STEP_MS = 100;
const PLACES = 400;
const START: Required<Phase> = { fromS: 0, knee: 25, meanMs: 100, overload: 3, failureShare: 0 };

/**
 * A downstream behind a limit and a queue of 400 places. All deliveries in service share its speed: a clock of served
 * time runs slower the more there are, and each delivery ends at a time on that clock, so a change of speed does not
 * touch them.
 */
class Downstream {
  readonly completions: Completion[] = [];
  readonly settings: number[] = [];
  readonly #controls: Controls;
  readonly #noise: Noise;
  readonly #random: () => number;
  readonly #phases: Phase[];
  /** Ordered by end, the next one last. */
  readonly #inService: { readonly startMs: number; readonly ends: number }[] = [];
  #phase = START;
  #nowMs = 0;
  #served = 0;
  #waiting = 0;
  #arrivalMs = 0;
  #startMs = 0;

  constructor({ seed, noise, phases = [] }: Scenario, controls: Controls) {
    this.#controls = controls;
    this.#noise = noise;
    this.#random = seeded(seed);
    this.#phases = [...phases];
    this.#enterPhases();
  }

  /** Advances to the next event, or to `untilMs`. */
  step(untilMs: number): void {
    const next = this.#inService.at(-1);
    const speed = this.#speed();
    const endMs = next === undefined ? Infinity : this.#nowMs + (next.ends - this.#served) / speed;
    const startMs = this.#mayStart() ? Math.max(this.#nowMs, this.#startMs) : Infinity;
    const phaseMs = (this.#phases[0]?.fromS ?? Infinity) * 1000;
    const atMs = Math.min(endMs, startMs, phaseMs, this.#arrivalMs, untilMs);
    this.#served += (atMs - this.#nowMs) * speed;
    this.#nowMs = atMs;
    if (atMs === phaseMs) this.#enterPhases();
    // A free place is taken immediately, before the next delivery that ends at the same moment.
    else if (atMs === startMs) this.#start();
    else if (atMs === endMs) this.#end();
    else if (atMs === this.#arrivalMs) this.#arrive();
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  #enterPhases(): void {
    while (this.#phases[0] !== undefined && this.#phases[0].fromS * 1000 <= this.#nowMs) {
      this.#phase = { ...this.#phase, ...this.#phases.shift() };
    }
    this.#arrivalMs = this.#nowMs + this.#gapMs();
  }

  #arrive(): void {
    if (this.#waiting < PLACES) this.#waiting += 1;
    this.#arrivalMs = this.#nowMs + this.#gapMs();
  }

  #mayStart(): boolean {
    return this.#waiting > 0 && this.#inService.length < (this.#controls.concurrency?.() ?? Infinity);
  }

  #start(): void {
    this.#waiting -= 1;
    const ends = this.#served + this.#work();
    let index = this.#inService.length;
    while (index > 0 && (this.#inService[index - 1]?.ends ?? 0) < ends) index -= 1;
    this.#inService.splice(index, 0, { startMs: this.#nowMs, ends });
    this.#startMs = this.#nowMs + 1000 / (this.#controls.startsPerSecond?.() ?? Infinity);
  }

  #end(): void {
    const active = this.#inService.length;
    const { startMs = 0, ends = 0 } = this.#inService.pop() ?? {};
    this.#served = ends;
    const tookMs = this.#nowMs - startMs;
    this.completions.push({ atMs: this.#nowMs, tookMs });
    this.#controls.complete(this.#nowMs, tookMs, this.#random() < this.#phase.failureShare, active);
  }

  #speed(): number {
    return 1 / this.#phase.meanMs / Math.max(1, this.#inService.length / this.#phase.knee);
  }

  #work(): number {
    if (this.#noise === 'constant') return 1;
    return this.#noise === 'uniform' ? 0.8 + 0.4 * this.#random() : exponential(this.#random, 1);
  }

  #gapMs(): number {
    const { meanMs, overload, knee } = this.#phase;
    return exponential(this.#random, meanMs / overload / knee);
  }
}

/** Runs the scenario deterministically. */
export function simulate(scenario: Scenario, controls: Controls): Run {
  const downstream = new Downstream(scenario, controls);
  const setting = controls.concurrency ?? controls.startsPerSecond ?? (() => Number.NaN);
  for (let untilMs = STEP_MS; untilMs <= scenario.seconds * 1000; untilMs += STEP_MS) {
    while (downstream.nowMs < untilMs) downstream.step(untilMs);
    downstream.settings.push(setting());
  }
  return downstream;
}

/** The settings of a run from `fromS` to `toS`. */
export function settingsOf({ settings }: Run, fromS: number, toS: number): number[] {
  return settings.slice((fromS * 1000) / STEP_MS, (toS * 1000) / STEP_MS);
}

/** The handling times of the deliveries completed from `fromS` to `toS`. */
export function timesOf({ completions }: Run, fromS: number, toS: number): number[] {
  return completions
    .filter(({ atMs }) => atMs >= fromS * 1000 && atMs < toS * 1000)
    .map(({ tookMs }) => tookMs);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
