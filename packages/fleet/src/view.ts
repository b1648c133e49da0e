import type { FleetSettings } from './fleet-options.ts';
import type { KnownMember } from './roster.ts';
import { split } from './split.ts';

/** What a member knows of its fleet, since the registry answered last. */
export class View {
  /** All members but this one. */
  readonly others: readonly KnownMember[];
  /** The smallest limits of all members. */
  readonly concurrency: number;
  /** Undefined if this member has none. */
  readonly drainRate: number | undefined;
  readonly #self: string;

  constructor(self: string, own: FleetSettings, others: readonly KnownMember[]) {
    this.#self = self;
    this.others = others;
    let { concurrency, drainRate } = own;
    for (const { state } of others) {
      concurrency = Math.min(concurrency, state.concurrency);
      if (drainRate !== undefined) drainRate = Math.min(drainRate, state.drainRate ?? Infinity);
    }
    this.concurrency = concurrency;
    this.drainRate = drainRate;
  }

  get size(): number {
    return this.others.length + 1;
  }

  /** What the shares and claims of the others leave of the limit. */
  get room(): number {
    return this.others.reduce((room, { state }) => room - state.claim, this.concurrency);
  }

  /** The share of this member. */
  target(demand: number): number {
    const demands = this.others.map(({ member, state }) => ({ member, demand: state.demand }));
    const shares = split(this.concurrency, [...demands, { member: this.#self, demand }]);
    return shares.get(this.#self) as number;
  }

  /** The share of a member if all need the same. */
  equal(member: string = this.#self): number {
    const members = [this.#self, ...this.others.map((other) => other.member)];
    const shares = split(
      this.concurrency,
      members.map((one) => ({ member: one, demand: this.concurrency })),
    );
    return shares.get(member) ?? 1;
  }

  /** The part of the drain rate for a share of the concurrency. */
  rateOf(share: number): number | undefined {
    return this.drainRate === undefined
      ? undefined
      : (this.drainRate * share) / Math.max(this.concurrency, this.size);
  }
}
