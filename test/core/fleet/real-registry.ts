import { createIntake, type Intake } from '@webhook-backpressure/core';
import { type Fleet, type FleetBeat, type FleetRegistry, joinFleet } from '@webhook-backpressure/fleet';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { expect } from 'vitest';
import { letIn, seeded } from '../harness.ts';

const STEP_MS = 100;

/** Members with clocks that differ, and a registry on a real server. Time passes only for the members. */
class RealFleet {
  readonly #clocks: ManualClock[] = [];
  readonly #intakes: Intake[] = [];
  readonly #fleets: Fleet[] = [];
  readonly #open = new Set<Promise<unknown>>();

  join(registry: FleetRegistry, concurrency: number): Intake {
    const number = this.#clocks.length;
    const clock = manualClock(number * 3_600_000);
    const watched: FleetRegistry = { beat: (beat: FleetBeat) => this.#watch(registry.beat(beat)) };
    const intake = createIntake({ clock, random: seeded(number + 1), capacity: 1000 });
    this.#fleets.push(joinFleet(intake, { registry: watched, resource: 'db', concurrency }));
    this.#clocks.push(clock);
    this.#intakes.push(intake);
    return intake;
  }

  get shares(): number[] {
    return this.#intakes.map((intake) => intake.snapshot().concurrency);
  }

  /** Lets time pass. Expects the sum of the shares to be at most a limit, after each step. */
  async pass(ms: number, limit: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      for (const clock of this.#clocks) clock.advance(STEP_MS);
      await Promise.allSettled(this.#open);
      expect(this.shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(limit);
    }
  }

  async leave(): Promise<void> {
    await Promise.all(this.#fleets.map((fleet) => fleet.leave()));
  }

  async #watch<T>(answer: T | PromiseLike<T>): Promise<T> {
    const pending = Promise.resolve(answer);
    this.#open.add(pending);
    try {
      return await pending;
    } finally {
      this.#open.delete(pending);
    }
  }
}

/** Four members share a limit by demand. */
export async function expectSharing(registries: readonly FleetRegistry[]): Promise<void> {
  const fleet = new RealFleet();
  const [busy] = registries.map((registry) => fleet.join(registry, 40));
  for (let i = 0; i < 100; i += 1) letIn((busy as Intake).admit({ maxWaitMs: 86_400_000 }));
  // At first each has its floor.
  await fleet.pass(8000, 42);
  await fleet.pass(8000, 40);
  expect(fleet.shares).toEqual([34, 2, 2, 2]);
  await fleet.leave();
}
