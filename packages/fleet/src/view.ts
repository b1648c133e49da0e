import type { FleetSettings } from './fleet-options.ts';
import { stateOf, type MemberState } from './member-state.ts';
import { MEMBER_MS, type FleetNews, type FleetView } from './registry.ts';
import { split } from './shares.ts';

/** How long the members may take to find that the registry is back: see the longest interval of beats. */
const RETURN_MS = 40_000;

/** Another member, as it was last seen. */
export interface KnownMember {
  readonly member: string;
  readonly state: MemberState;
  /** When it wrote that, by the clock of this process and not earlier than it did. */
  readonly atMs: number;
}

/**
 * The other members. Each is taken to be alive for 10 s after its last beat, also while it is missing in the registry: a
 * registry that has lost its rows must not make all members take the shares of the others.
 */
export class Roster {
  readonly #known = new Map<string, KnownMember>();
  readonly #seen = new Map<string, number>();

  /** The number of the last news of each member that has been read. */
  get seen(): Record<string, number> {
    return Object.fromEntries(this.#seen);
  }

  /** The members that are taken to be alive. */
  at(nowMs: number): readonly KnownMember[] {
    return [...this.#known.values()].filter(({ atMs }) => nowMs - atMs < MEMBER_MS);
  }

  /** Returns the news that have not been read. */
  learn({ members, news }: FleetView, self: string, nowMs: number): readonly FleetNews[] {
    for (const { member, ageMs, state: text } of members) {
      const state = stateOf(text);
      if (member === self || state === undefined) continue;
      if (state.hasLeft) this.#known.delete(member);
      else this.#known.set(member, { member, state, atMs: nowMs - Math.max(0, ageMs) });
    }
    for (const [member, { atMs }] of this.#known) {
      if (nowMs - atMs >= MEMBER_MS) this.#known.delete(member);
    }
    const unread = news.filter(({ member, number }) => number > (this.#seen.get(member) ?? 0));
    for (const { member, number } of unread) this.#seen.set(member, number);
    const present = new Set(members.map(({ member }) => member));
    for (const member of this.#seen.keys()) if (!present.has(member)) this.#seen.delete(member);
    return unread;
  }

  /**
   * The registry answers again. Members that were known when it was lost may find that later: each is taken to hold its
   * equal share for 40 s more.
   */
  expect(members: readonly KnownMember[], shareOf: (member: string) => number, nowMs: number): void {
    for (const { member, state } of members) {
      const share = shareOf(member);
      this.#known.set(member, {
        member,
        state: { ...state, share, claim: share },
        atMs: nowMs + RETURN_MS - MEMBER_MS,
      });
    }
  }
}

/** What a member knows of its fleet, since the registry answered last. */
export class View {
  /** All members but this one. */
  readonly others: readonly KnownMember[];
  /** The smallest limits of all members. */
  readonly concurrency: number;
  /** Undefined if this member has none. */
  readonly maxStartsPerSecond: number | undefined;
  readonly #self: string;

  constructor(self: string, own: FleetSettings, others: readonly KnownMember[]) {
    this.#self = self;
    this.others = others;
    let { concurrency, maxStartsPerSecond } = own;
    for (const { state } of others) {
      concurrency = Math.min(concurrency, state.concurrency);
      if (maxStartsPerSecond !== undefined)
        maxStartsPerSecond = Math.min(maxStartsPerSecond, state.maxStartsPerSecond ?? Infinity);
    }
    this.concurrency = concurrency;
    this.maxStartsPerSecond = maxStartsPerSecond;
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
    return this.maxStartsPerSecond === undefined
      ? undefined
      : (this.maxStartsPerSecond * share) / Math.max(this.concurrency, this.size);
  }
}
