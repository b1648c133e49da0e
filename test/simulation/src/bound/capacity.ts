import {
  type Scenario,
  phasesOf,
  type Phase,
  startsPerSecondOf,
  workersOf,
} from '@webhook-backpressure/planner/parts';

/** How many deliveries the workers of a scenario can handle, whatever happens. */
export class Capacity {
  /** In addition to the service time, how long after its start a delivery keeps others from starting. */
  readonly spacingMs: number;
  readonly #phases: readonly Phase[];
  readonly #workers: number;
  readonly #meanMs: number;
  readonly #perMs: number;

  constructor(scenario: Scenario) {
    const { service, process } = scenario;
    const standStill = [...(service.standStill ?? []), ...(process?.freeze ?? [])];
    this.#phases = phasesOf({ ...service, standStill });
    this.#workers = workersOf(scenario);
    this.#meanMs = service.meanMs;
    this.#perMs = startsPerSecondOf(scenario) / 1000;
    const isPaced = this.#perMs * this.#meanMs < this.#workers;
    this.spacingMs = isPaced ? Math.max(0, 1 / this.#perMs - this.#meanMs) : 0;
  }

  /** The deliveries that can be handled in [fromMs, toMs), in parts too. */
  between(fromMs: number, toMs: number): number {
    if (toMs === Infinity) return Infinity;
    let handled = 0;
    for (const [index, { fromMs: beginMs, knee, speed }] of this.#phases.entries()) {
      const endMs = this.#phases[index + 1]?.fromMs ?? Infinity;
      const ms = Math.min(toMs, endMs) - Math.max(fromMs, beginMs);
      if (ms > 0) handled += (ms * Math.min(this.#workers, knee) * speed) / this.#meanMs;
    }
    return Math.min(handled, (toMs - fromMs) * this.#perMs);
  }
}
