import { stateOf, type MemberState } from './member-state.ts';
import { MEMBER_MS, type FleetNews, type FleetView } from './registry.ts';

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
