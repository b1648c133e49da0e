/** While more than this part of all places is free, no endpoint is limited. */
const KEPT = 0.1;

/**
 * How many more places an endpoint may take. Places are given first come, first served, until a tenth is left: an endpoint
 * alone gets nearly all of them. The rest is for endpoints that hold less than an equal share of it. The share is of what is
 * free now, so that the rest is never used up by the endpoints that came first.
 *
 * @param held - the places that it has.
 * @param places - all places, free or not.
 * @param holders - endpoints that may want some.
 */
export function fairPlaces(held: number, free: number, places: number, holders: number): number {
  return Math.max(0, Math.ceil(free - KEPT * places), Math.ceil(free / (holders + 1) - held));
}
