/** What a member of a fleet writes at each beat, about every 2 s. */
export interface FleetBeat {
  /** What the members share, such as the name of a database. From 1 to 200 characters. */
  readonly resource: string;
  /** The id of the member: 16 letters and digits. */
  readonly member: string;
  /** The number of the beat, from 1. A beat with a lower number than the last one of the member writes nothing. */
  readonly number: number;
  /** What other members read until the next beat. JSON, at most 4 KiB. */
  readonly state: string;
  /** What other members read once. JSON, at most 64 KiB; empty if there is nothing. */
  readonly news: string;
  /** The number of the last beat of each other member whose news this one has read. */
  readonly seen: Readonly<Record<string, number>>;
}

/** A member, as it was at its last beat. */
export interface FleetMember {
  /** Its id. */
  readonly member: string;
  /** How long ago that was, in milliseconds, by the clock of the server. */
  readonly ageMs: number;
  /** The `state` of that beat. */
  readonly state: string;
}

/** The news of one beat of another member. */
export interface FleetNews {
  /** The id of the member. */
  readonly member: string;
  /** The number of the beat. */
  readonly number: number;
  /** The `news` of the beat. */
  readonly news: string;
}

/** What a member reads at each beat. */
export interface FleetView {
  /** All members of the resource whose last beat was in the last 10 s. It may contain the member itself. */
  readonly members: readonly FleetMember[];
  /** The news of the last 10 s of other members, except those that are `seen`, in the order of their numbers. */
  readonly news: readonly FleetNews[];
}

/**
 * Where the members of a fleet see each other.
 *
 * `beat` writes and then reads, in one step that no other beat of the resource comes between: of two members that beat
 * concurrently, the later one sees the other. It may return the view or a promise of it. Rows need not be durable.
 */
export interface FleetRegistry {
  /** Writes what a member reports, and reads what the others have reported. */
  beat(beat: FleetBeat): FleetView | PromiseLike<FleetView>;
}

/** After this time without a beat, a member is no longer in the view of others, in milliseconds. */
export const MEMBER_MS = 10_000;
