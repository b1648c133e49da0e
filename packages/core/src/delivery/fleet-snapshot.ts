/**
 * - `joining`: the registry has not answered yet
 * - `joined`: the member sees the others
 * - `lost`: the registry has not answered for 10 s
 * - `left`: the member has left
 */
export type FleetState = 'joining' | 'joined' | 'lost' | 'left';

/** The share of one member of a fleet, as another member sees it. */
export interface FleetMemberSnapshot {
  /** The id of the member, which is new for each `joinFleet`. */
  readonly member: string;
  /** How many deliveries it may handle concurrently. */
  readonly share: number;
  /** How many it could handle concurrently: queued and active ones, smoothed. */
  readonly demand: number;
  /** How long ago it has reported that, in milliseconds; 0 for the member itself. */
  readonly ageMs: number;
}

/** A member of a fleet at one moment, as a copy that does not change. */
export interface FleetSnapshot {
  /** Whether the registry answers. */
  readonly state: FleetState;
  /** The option. */
  readonly resource: string;
  /** The id of this member. */
  readonly member: string;
  /** The limit that the members share: the smallest `concurrency` of all. */
  readonly concurrency: number;
  /** The same for `drainRate`, in starts per second; null if no member has that option. */
  readonly maxStartsPerSecond: number | null;
  /** How many deliveries this member may handle concurrently. */
  readonly share: number;
  /** How many deliveries this member may start per second; null without a `drainRate`. */
  readonly shareOfMaxStarts: number | null;
  /** How long the registry has not answered, in milliseconds; 0 while it does. */
  readonly lostMs: number;
  /** All members, this one included, in the order of their ids. Of the last view, if the registry is lost. */
  readonly members: readonly FleetMemberSnapshot[];
}
