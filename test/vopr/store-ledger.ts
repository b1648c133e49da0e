import type {
  ClaimedDelivery,
  ClaimRef,
  DeliveryRef,
  InboxStore,
  Settlement,
} from '@webhook-backpressure/inbox';
import type { World } from './world.ts';

interface Claim {
  readonly worker: string;
  leaseEndsMs: number;
}

interface Counted {
  readonly ref: DeliveryRef;
  attempts: number;
  strandings: number;
  claim: Claim | undefined;
}

/** The protocol of the store, kept apart from the store: who holds which claim, and how often a delivery was tried. */
export class StoreLedger {
  readonly #world: World;
  readonly #deliveries = new Map<string, Counted>();
  /** Until when handlers asked to wait, by worker and id. It counts once the failure is stored. */
  readonly #asked = new Map<string, number>();
  /** Deliveries of which a failover has undone a claim: the same worker may claim them again while its first handler runs. */
  readonly forgottenIds: Set<string> = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  put(batch: Parameters<InboxStore['put']>[0], results: readonly string[]): void {
    for (const [at, result] of results.entries()) {
      const put = batch[at];
      if (put === undefined || result !== 'stored') continue;
      const { key, id } = put.delivery;
      const event = { type: put.isOverflow ? 'overflow' : 'stored', key, id };
      this.#world.see(event);
      this.#world.commit(event);
      this.#deliveries.set(nameOf(put.delivery), fresh(put.delivery));
    }
  }

  claimed(worker: string, all: readonly ClaimedDelivery[], nowMs: number, leaseMs: number): void {
    this.#strand(worker, nowMs);
    for (const one of all) {
      const { key, id } = one;
      const counted = this.#of(one);
      this.#world.commit({ type: 'started', key, id, worker });
      counted.attempts += 1;
      counted.claim = { worker, leaseEndsMs: nowMs + leaseMs };
      if (one.attempt !== counted.attempts || one.strandings !== counted.strandings) {
        const { attempts, strandings } = counted;
        const is = `attempt ${String(one.attempt)} and ${String(one.strandings)} strandings`;
        this.#world.wrong.push(
          `${id} was claimed as ${is}, but has ${String(attempts)} and ${String(strandings)}.`,
        );
      }
    }
  }

  /** A claim ends all claims of other owners whose lease has expired. */
  #strand(worker: string, nowMs: number): void {
    for (const counted of this.#deliveries.values()) {
      const { claim } = counted;
      if (claim === undefined || claim.leaseEndsMs > nowMs || claim.worker === worker) continue;
      counted.strandings += 1;
      counted.claim = undefined;
      this.#world.commit({ type: 'released', ...counted.ref, worker: claim.worker });
    }
  }

  renewed(worker: string, claims: readonly ClaimRef[], held: readonly boolean[], endsMs: number): void {
    for (const [at, one] of claims.entries()) {
      const { claim, attempts } = this.#of(one);
      const isHeld = claim?.worker === worker && attempts === one.attempt;
      if (isHeld !== held[at])
        this.#world.wrong.push(`${one.id} of ${worker} was renewed as ${String(held[at])}.`);
      if (isHeld) claim.leaseEndsMs = endsMs;
    }
  }

  settled(worker: string, settlements: readonly Settlement[], held: readonly boolean[]): void {
    for (const [at, one] of settlements.entries()) {
      const { key, id, as } = one;
      const counted = this.#of(one);
      const isHeld = counted.claim?.worker === worker && counted.attempts === one.attempt;
      if (isHeld !== held[at])
        this.#world.wrong.push(`${id} of ${worker} was settled as ${String(held[at])}.`);
      if (held[at] !== true) {
        this.#world.see({ type: 'lost', key, id, worker });
        continue;
      }
      if (as === 'released' || (as === 'failed' && one.isRepeated === true)) counted.attempts -= 1;
      counted.claim = undefined;
      this.#world.see({ type: as, key, id, worker });
      this.#world.commit({ type: as, key, id, worker });
      const untilMs = this.#asked.get(`${worker} ${id}`);
      if (untilMs !== undefined && as !== 'dead') this.#world.see({ type: 'retry-after', key, id, untilMs });
      this.#asked.delete(`${worker} ${id}`);
    }
  }

  askedFor(who: string, untilMs: number): void {
    this.#asked.set(who, untilMs);
  }

  /** Claims that a failover has undone. */
  forgotten(
    worker: string,
    claims: readonly ClaimRef[],
    held: readonly boolean[],
    wasAnswered: boolean,
  ): void {
    for (const [at, one] of claims.entries()) {
      if (held[at] !== true) continue;
      const counted = this.#of(one);
      counted.attempts -= 1;
      counted.claim = undefined;
      this.#world.commit({ type: 'released', key: one.key, id: one.id, worker });
      if (wasAnswered) this.forgottenIds.add(one.id);
    }
  }

  /** All claims of a store that is closed. */
  closed(worker: string): void {
    for (const counted of this.#deliveries.values()) {
      if (counted.claim?.worker !== worker) continue;
      counted.attempts -= 1;
      counted.claim = undefined;
    }
    this.#world.commit({ type: 'died', worker });
  }

  /** Deliveries that were put back, deleted, or forgotten. */
  moved(type: 'redriven' | 'purged', all: readonly DeliveryRef[]): void {
    for (const one of all) {
      const event = { type, key: one.key, id: one.id };
      this.#world.see(event);
      this.#world.commit(event);
      if (type === 'redriven') this.#deliveries.set(nameOf(one), fresh(one));
    }
  }

  #of(ref: DeliveryRef): Counted {
    const counted = this.#deliveries.get(nameOf(ref));
    if (counted !== undefined) return counted;
    this.#world.wrong.push(`${ref.id} was claimed or settled, but never stored.`);
    return fresh(ref);
  }
}

function fresh({ key, id }: DeliveryRef): Counted {
  return { ref: { key, id }, attempts: 0, strandings: 0, claim: undefined };
}

function nameOf({ key, id }: DeliveryRef): string {
  return JSON.stringify([key, id]);
}
