/** While more than this part of all places is free, nobody is limited. */
const KEPT = 0.1;

/**
 * The most places that one endpoint may hold and take another one. Places are given first come, first served, until a tenth
 * is left: an endpoint alone gets nearly all of them. The rest is for endpoints that hold less than an equal share of it. The
 * share is of what is free now, so that the rest is never used up by the endpoints that came first.
 *
 * @param holders - endpoints that hold a place.
 */
export function mostHeld(free: number, places: number, holders: number): number {
  return free > KEPT * places ? Infinity : free / (holders + 1);
}
