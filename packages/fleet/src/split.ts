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
