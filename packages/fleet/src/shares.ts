/** What a member could use. */
export interface Demand {
  /** Different for each member. */
  readonly member: string;
  /** Integer ≥ 0. */
  readonly demand: number;
}

/** The least share: a quarter of an equal one, and at least 1, so that a member can serve the begin of a burst. */
export function floorOf(limit: number, members: number): number {
  return Math.max(1, Math.floor(limit / (4 * Math.max(1, members))));
}

/**
 * Splits a limit by demand, max-min fair: no share can grow without taking from one that is not larger. What is left when
 * all demands are met is divided equally. What cannot be divided goes to the smaller ids. Every member that knows the
 * same demands computes the same shares.
 *
 * The sum of the shares is the limit or, where that is larger, the number of members: each gets at least
 * {@link floorOf}.
 */
export function split(limit: number, demands: readonly Demand[]): Map<string, number> {
  const floor = floorOf(limit, demands.length);
  const needs = demands.map(({ member, demand }) => ({ member, need: Math.max(floor, demand) }));
  needs.sort((a, b) => a.need - b.need);
  const shares = new Map<string, number>();
  let left = Math.max(limit, demands.length);
  let met = 0;
  for (const { member, need } of needs) {
    if (need > Math.floor(left / (needs.length - met))) break;
    shares.set(member, need);
    left -= need;
    met += 1;
  }
  const unmet = needs.slice(met).map(({ member }) => member);
  deal(left, unmet.length > 0 ? unmet : [...shares.keys()], shares);
  return shares;
}

function deal(amount: number, members: string[], shares: Map<string, number>): void {
  const each = Math.floor(amount / members.length);
  const over = amount - each * members.length;
  for (const [at, member] of members.sort().entries()) {
    shares.set(member, (shares.get(member) ?? 0) + each + (at < over ? 1 : 0));
  }
}

/**
 * The share of a member in use, and the one that it claims.
 *
 * A member takes less immediately. It takes more only after it has written a claim, and only as far as the shares and
 * claims of all others leave room in the answer to that beat. Beats are ordered, so of two members that grow
 * concurrently the later one sees the claim of the other: the shares in use never exceed the limit by growing.
 */
export class Share {
  /** Deliveries that the member may handle concurrently: at least 1. */
  held: number;
  /** At least `held`. */
  claim: number;

  constructor(initial: number) {
    this.held = this.claim = Math.max(1, initial);
  }

  /** Called before a beat, with the share by what is known now. */
  aim(target: number): void {
    this.claim = Math.max(this.held, target);
  }

  /** Called with the answer. `room`: what the others leave of the limit. */
  settle(target: number, room: number): void {
    const most = Math.min(target, this.claim, room);
    this.held = Math.max(1, target <= this.held ? target : Math.max(this.held, most));
  }
}

/** A demand falls by this factor in this time. Long enough that the pauses of a bursty sender don't move shares. */
const FALL_MS = 8000;
/** Smaller changes than this part of the limit are not reported: each moves the shares of all members. */
const STEP = 1 / 32;
/** Less than half a delivery is none. */
const LEAST = 0.5;

/** How many deliveries a member could handle concurrently: rises immediately and falls slowly. */
export class SmoothedDemand {
  #level = 0;
  #atMs = -Infinity;
  #reported = 0;

  note(wanted: number, nowMs: number): void {
    const kept = Math.exp((this.#atMs - nowMs) / FALL_MS);
    this.#level = Math.max(wanted, kept * this.#level + (1 - kept) * wanted);
    this.#atMs = nowMs;
  }

  /** What the member reports: an integer from 0 to `most`. */
  report(most: number, limit: number): number {
    const step = Math.max(1, Math.round(limit * STEP));
    // A level that falls to nothing never reaches it.
    const level = this.#level < LEAST ? 0 : Math.min(this.#level, most);
    if (level > this.#reported || level <= this.#reported - step)
      this.#reported = Math.ceil(level / step) * step;
    this.#reported = Math.min(this.#reported, most);
    return this.#reported;
  }
}
