import {
  type FleetBeat,
  type FleetRegistry,
  type FleetView,
  joinFleet,
  memoryRegistry,
} from '@webhook-backpressure/fleet';
import { type ManualClock } from '@webhook-backpressure/core/testing';
import type { Receiver } from './receiver.ts';
import type { Fleet } from '../scenario/scenario.ts';

/** How long a beat takes. */
const BEAT_MS = 5;

/** The registry of a simulated fleet. While it is away, calls fail. A dead receiver does not call it. */
export class Registry {
  readonly #fleet: Fleet;
  readonly #clock: ManualClock;
  readonly #registry: FleetRegistry;

  constructor(fleet: Fleet, clock: ManualClock) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#registry = memoryRegistry(clock);
  }

  /** A receiver joins the fleet, which shares these limits. */
  join(receiver: Receiver, limits: { concurrency: number; drainRate: number | undefined }): void {
    const registry = { beat: (beat: FleetBeat) => this.#beat(beat, receiver) };
    const { receivers: instances } = this.#fleet;
    joinFleet(receiver.intake, { registry, resource: 'downstream', ...limits, instances });
  }

  async #beat(beat: FleetBeat, receiver: Receiver): Promise<FleetView> {
    await new Promise<void>((resolve) => {
      if (receiver.isAlive) this.#clock.setTimeout(resolve, BEAT_MS);
    });
    const nowS = this.#clock.now() / 1000;
    if (this.#fleet.registryAway.some(({ fromS, toS }) => fromS <= nowS && nowS < toS)) {
      throw new Error('The registry is away.');
    }
    return this.#registry.beat(beat);
  }
}
