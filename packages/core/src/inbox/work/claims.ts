import type { Agenda, Task } from '../keeping/agenda.ts';
import type { ClaimedDelivery, InboxStore } from '../store/inbox-store.ts';
import type { StoreHealth } from '../keeping/store-health.ts';

/** A claim is lost to others when it was not renewed for so long: its process stands still, or is gone. */
export const LEASE_MS = 30_000;
/** Something is due that cannot be claimed now, as another process holds it back: it is looked at again after this. */
const LOOK_AGAIN_MS = 1000;

/** What may be claimed now. */
export interface Room {
  /** 0 or less while nothing is to be claimed. */
  readonly count: number;
  readonly maxStranded: number;
  /** Keys to pass over. */
  readonly except: ReadonlySet<string>;
  /** When it may be more without anything having ended, on the monotonic clock; Infinity for never. */
  readonly againAtMs: number;
}

/** What the claiming asks of the workers. */
export interface Claimants {
  /** @param isIdle - a claim has just found less than there was room for. */
  room(isIdle: boolean): Room;
  begin(claimed: ClaimedDelivery): void;
  /** A claim has given so many. Returns whether it is worth asking again although that were less than asked for. */
  answered(claimed: readonly ClaimedDelivery[], room: Room, isIdle: boolean): boolean;
}

/** What the claiming works with. */
export interface ClaimParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly agenda: Agenda;
  readonly now: () => number;
  readonly wallMs: () => number;
}

/** Gets deliveries out of the store as workers get free: one call at a time, and none when nothing is due. */
export class Claims {
  readonly #parts: ClaimParts;
  readonly #claimants: Claimants;
  readonly #wake: Task;
  #running: Promise<void> | undefined;
  #isWanted = false;

  constructor(parts: ClaimParts, claimants: Claimants) {
    this.#parts = parts;
    this.#claimants = claimants;
    this.#wake = parts.agenda.task(() => {
      this.look();
    });
  }

  /** Something may be due, or a worker free. */
  look(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  /** Resolves when no call is under way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#parts.health.rest();
      try {
        await this.#fill();
      } catch (error) {
        this.#parts.health.failed('claim', error);
        this.#isWanted = this.#claimants.room(false).count > 0;
      }
    }
    this.#running = undefined;
  }

  /** Claims until there is no room, or nothing that is due. */
  async #fill(): Promise<void> {
    const { store, health, wallMs } = this.#parts;
    let isIdle = false;
    for (;;) {
      const room = this.#claimants.room(isIdle);
      const { count, maxStranded, except, againAtMs } = room;
      if (count <= 0) {
        this.#lookAgain(againAtMs);
        return;
      }
      const nowMs = wallMs();
      const claimed = await store.claim(count, { leaseMs: LEASE_MS, nowMs, maxStranded, except });
      for (const one of claimed) this.#claimants.begin(one);
      const isWorthIt = this.#claimants.answered(claimed, room, isIdle);
      if (claimed.length === count) {
        health.worked();
        continue;
      }
      isIdle = true;
      if (isWorthIt) continue;
      // A store may give fewer than there are: of the stranded, so many at a time.
      const dueMs = await store.nextDueMs(except);
      health.worked();
      this.#lookAgain(Math.min(againAtMs, this.#atMs(dueMs)));
      return;
    }
  }

  /** A time of the wall clock on the monotonic one. */
  #atMs(dueMs: number | undefined): number {
    if (dueMs === undefined) return Infinity;
    const { now, wallMs } = this.#parts;
    const inMs = dueMs - wallMs();
    return now() + (inMs > 0 ? inMs : LOOK_AGAIN_MS);
  }

  #lookAgain(atMs: number): void {
    if (atMs < Infinity) this.#wake.set(atMs);
  }
}
