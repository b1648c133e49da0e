import {
  type Admission,
  createIntake,
  type Intake,
  type IntakeEvent,
  type IntakeOptions,
} from '@webhook-backpressure/core';
import {
  type Fleet,
  type FleetOptions,
  type FleetRegistry,
  type FleetView,
  joinFleet,
  memoryRegistry,
} from '@webhook-backpressure/fleet';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { glanceAt } from '@webhook-backpressure/base';
import { letIn, seeded } from '../harness.ts';

/** What becomes of beats. */
export type Trouble = 'none' | 'fails' | 'hangs' | 'loses-replies';

/** A registry whose server can be away for all members, or for one. */
export class TroubledRegistry implements FleetRegistry {
  trouble: Trouble = 'none';
  beats = 0;
  /** Calls that hang. */
  readonly hanging: { resolve: (view: FleetView) => void; reject: (error: Error) => void }[] = [];
  #registry: FleetRegistry;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock, shared?: FleetRegistry) {
    this.#clock = clock;
    this.#registry = shared ?? memoryRegistry(clock);
  }

  beat(...[beat]: Parameters<FleetRegistry['beat']>): ReturnType<FleetRegistry['beat']> {
    this.beats += 1;
    if (this.trouble === 'fails') throw new Error('connect ECONNREFUSED 10.0.0.1:5432');
    if (this.trouble === 'hangs') {
      return new Promise((resolve, reject) => {
        this.hanging.push({ resolve, reject });
      });
    }
    const view = this.#registry.beat(beat);
    if (this.trouble === 'loses-replies') throw new Error('read ECONNRESET');
    return view;
  }

  /** The server loses all rows. */
  flush(): void {
    this.#registry = memoryRegistry(this.#clock);
  }
}

/** A receiver that is a member of a fleet. */
export class Receiver {
  readonly intake: Intake;
  readonly fleet: Fleet;
  readonly events: IntakeEvent[] = [];
  readonly registry: TroubledRegistry;
  readonly #held: Admission[] = [];

  constructor(intake: Intake, registry: TroubledRegistry, options: Partial<FleetOptions>) {
    this.intake = intake;
    this.registry = registry;
    intake.subscribe((event) => this.events.push(event));
    this.fleet = joinFleet(intake, { registry, resource: 'db', concurrency: 40, ...options });
  }

  /** Deliveries that it may handle concurrently. */
  get share(): number {
    return glanceAt(this.intake).concurrency;
  }

  /** Makes it have this number of deliveries, queued and active together. */
  async hold(count: number): Promise<void> {
    while (this.#held.length < count) this.#held.push(letIn(this.intake.admit({ maxWaitMs: 86_400_000 })));
    for (const admission of this.#held.splice(count).reverse()) {
      admission.leave();
      const permit = await admission.permit;
      if (permit.admitted) permit.release();
    }
  }

  /** Its process ends without notice. */
  die(): void {
    this.registry.trouble = 'hangs';
  }

  types(): string[] {
    return this.events.map(({ type }) => type).filter((type) => /^(fleet|warning)/.test(type));
  }
}

/** Receivers on one manual clock. */
export class FleetBed {
  readonly clock: ManualClock = manualClock();
  readonly registry: FleetRegistry = memoryRegistry(this.clock);
  readonly receivers: Receiver[] = [];
  /** The largest sum of the shares at any moment, and for how long it was above a limit. */
  most = 0;
  readonly #random: () => number;

  constructor(seed = 1) {
    this.#random = seeded(seed);
  }

  join(
    options: Partial<FleetOptions> = {},
    intakeOptions: IntakeOptions = {},
    registry: TroubledRegistry = new TroubledRegistry(this.clock, this.registry),
  ): Receiver {
    const { clock } = this;
    const intake = createIntake({
      clock,
      random: this.#random,
      capacity: 10_000,
      maxWaitMs: 86_400_000,
      maxHandlingMs: 86_400_000,
      ...intakeOptions,
    });
    const receiver = new Receiver(intake, registry, options);
    this.receivers.push(receiver);
    this.#look();
    return receiver;
  }

  get shares(): number[] {
    return this.receivers.map(({ share }) => share);
  }

  get sum(): number {
    return this.shares.reduce((sum, share) => sum + share, 0);
  }

  /** How many deliveries are active at all receivers together. */
  get active(): number {
    return this.receivers.reduce((sum, { intake }) => sum + intake.snapshot().active, 0);
  }

  /** Removes a receiver that has died or left: it handles nothing any more. */
  drop(receiver: Receiver): void {
    this.receivers.splice(this.receivers.indexOf(receiver), 1);
  }

  /** Lets time pass, with a look at the sum of the shares after each step of 20 ms. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 20) {
      this.clock.advance(Math.min(20, left));
      this.#look();
    }
  }

  /** Lets time pass. Returns for how long the sum of the shares was above the limit, and its most. */
  watch(ms: number, limit: number): { readonly overMs: number; readonly most: number } {
    let overMs = 0;
    let most = 0;
    for (let left = ms; left > 0; left -= 20) {
      this.clock.advance(20);
      if (this.sum > limit) overMs += 20;
      most = Math.max(most, this.sum);
    }
    return { overMs, most };
  }

  #look(): void {
    this.most = Math.max(this.most, this.sum);
  }
}
