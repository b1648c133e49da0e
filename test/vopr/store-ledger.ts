import type {
  ClaimedDelivery,
  ClaimRef,
  DeliveryRef,
  InboxStore,
  Settlement,
} from '@webhook-backpressure/inbox';
import { DeadLetterLimit } from './dead-letter-limit.ts';
import { HandlerCalls } from './handler-calls.ts';
import { mostStrandings } from './killers.ts';
import type { Plan } from './plan.ts';
import type { World } from './world.ts';

/** So long after its last call, each process knows what the store holds: calls that are never answered are given up. */
export const LEARN_MS = 90_000;

interface Claim {
  readonly worker: string;
  leaseEndsMs: number;
}

interface Counted {
  readonly ref: DeliveryRef;
  attempts: number;
  strandings: number;
  claim: Claim | undefined;
  /** How often it was put back: then its attempts are counted from one again, so that claims have the names of earlier ones. */
  readonly round: number;
}

/** What the store answered to a worker. */
interface Tally {
  completed: number;
  /** Claims that were not held any more, though the worker had not settled them. */
  readonly lost: Set<string>;
  readonly settled: Set<string>;
  /** Claims of the same name as an earlier one, which was given back. */
  readonly again: Set<string>;
  /** Claims that it wanted to settle, and was answered that it does not hold. */
  readonly knownLost: Set<string>;
}

/** The protocol of the store, kept apart from the store: who holds which claim, and how often a delivery was tried. */
export class StoreLedger {
  readonly #world: World;
  readonly #deliveries = new Map<string, Counted>();
  /** Until when handlers asked to wait, by worker and id. It counts once the failure is stored. */
  readonly #asked = new Map<string, number>();
  /** Deliveries of which a failover has undone a claim: the same worker may claim them again while its first handler runs. */
  readonly forgottenIds: Set<string> = new Set<string>();

  /** Completed deliveries that were to be kept. */
  kept = 0;
  /** Deliveries of which a lease has run out. */
  readonly strandedIds: Set<string> = new Set<string>();
  readonly #tallies = new Map<string, Tally>();
  readonly #calls = new HandlerCalls();
  /** Whether each delivery has its own call. The handler of a batch goes on if one of it is lost. */
  readonly #isAlone: boolean;
  readonly #deadLetters: DeadLetterLimit;
  readonly #mostStrandings: (ref: DeliveryRef) => number;

  constructor(world: World, plan: Plan) {
    const { batches, coalesces, maxDeadLetters } = plan.options;
    this.#world = world;
    this.#isAlone = batches === 0 && !coalesces;
    this.#deadLetters = new DeadLetterLimit(world, plan.roles.length, maxDeadLetters);
    this.#mostStrandings = mostStrandings(plan);
  }

  /** A handler was called. Returns a function that notes its end. */
  called(worker: string, ref: DeliveryRef): () => void {
    const { id } = ref;
    if (this.#isHandled(worker, ref) && !this.forgottenIds.has(id))
      this.#world.wrong.push(`${id} is handled twice at the same time by ${worker}.`);
    const isAlwaysHeld = !this.forgottenIds.has(id) && !this.strandedIds.has(id);
    if (isAlwaysHeld && this.#of(ref).claim?.worker !== worker)
      this.#world.wrong.push(`${id} is handled by ${worker} without a claim.`);
    return this.#calls.started(worker, ref);
  }

  #isHandled(worker: string, ref: DeliveryRef): boolean {
    return this.#isAlone && this.#calls.of(worker, ref) !== undefined;
  }

  /** A process has ended. One that was closed has aborted its handlers. */
  gone(worker: string, isClosed: boolean): void {
    for (const name of this.#calls.take(worker))
      if (isClosed && this.#isAlone) this.#world.wrong.push(`A closed process still handles ${name}.`);
  }

  tallyOf(worker: string): Tally {
    const set = (): Set<string> => new Set<string>();
    const none = { completed: 0, lost: set(), settled: set(), again: set(), knownLost: set() };
    const tally = this.#tallies.get(worker) ?? none;
    this.#tallies.set(worker, tally);
    return tally;
  }

  put(batch: Parameters<InboxStore['put']>[0], results: readonly string[]): void {
    for (const [at, result] of results.entries()) {
      const put = batch[at];
      if (put === undefined || result !== 'stored') continue;
      const { key, id } = put.delivery;
      const event = { type: put.isOverflow ? 'overflow' : 'stored', key, id };
      if (put.isOverflow) this.#deadLetters.added();
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
      const { settled, again } = this.tallyOf(worker);
      if (settled.has(claimName(one))) again.add(claimName(one));
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
      if (this.#world.isFaultless)
        this.#world.wrong.push(`The lease of ${counted.ref.id} has run out in ${claim.worker}.`);
      this.strandedIds.add(counted.ref.id);
      this.#lost(claim.worker, { ...counted.ref, attempt: counted.attempts });
      counted.strandings += 1;
      if (counted.strandings > this.#mostStrandings(counted.ref))
        this.#world.wrong.push(`${counted.ref.id} was stranded ${String(counted.strandings)} times.`);
      counted.claim = undefined;
      this.#world.commit({ type: 'released', ...counted.ref, worker: claim.worker });
    }
  }

  /** @returns a function to call when the process has got the answer. */
  renewed(worker: string, claims: readonly ClaimRef[], held: readonly boolean[], endsMs: number): () => void {
    const lost: (readonly [claim: ClaimRef, call: object | undefined])[] = [];
    for (const [at, one] of claims.entries()) {
      const { claim, attempts } = this.#of(one);
      const isHeld = claim?.worker === worker && attempts === one.attempt;
      if (isHeld !== held[at])
        this.#world.wrong.push(`${one.id} of ${worker} was renewed as ${String(held[at])}.`);
      if (isHeld) claim.leaseEndsMs = endsMs;
      else this.#lost(worker, one);
      if (claim?.worker !== worker) lost.push([one, this.#calls.of(worker, one)]);
    }
    return () => {
      this.#world.after(0, () => {
        for (const [one, call] of lost)
          if (this.#isHandled(worker, one) && this.#calls.of(worker, one) === call)
            this.#world.wrong.push(`${one.id} is still handled by ${worker}, and is known to be lost.`);
      });
    };
  }

  /** @param wallMs - the time of day of the process. */
  settled(
    worker: string,
    settlements: readonly Settlement[],
    held: readonly boolean[],
    wallMs: number,
  ): void {
    for (const [at, one] of settlements.entries()) {
      const { key, id, as } = one;
      const counted = this.#of(one);
      const isHeld = counted.claim?.worker === worker && counted.attempts === one.attempt;
      if (isHeld !== held[at])
        this.#world.wrong.push(`${id} of ${worker} was settled as ${String(held[at])}.`);
      if (held[at] !== true) {
        this.#world.see({ type: 'lost', key, id, worker });
        this.#lost(worker, one);
        this.#asked.delete(`${worker} ${id}`);
        continue;
      }
      this.tallyOf(worker).settled.add(claimName(one));
      this.#deadLetters.settled(one);
      if (as === 'dead' && this.#mostStrandings(one) < Infinity)
        this.#world.wrong.push(`${id} is a dead letter, but its handler succeeds.`);
      if (this.#isHandled(worker, one) && !this.forgottenIds.has(id))
        this.#world.wrong.push(`${id} is ${as} in the store while ${worker} handles it.`);
      if (as === 'completed') {
        this.tallyOf(worker).completed += 1;
        if (one.keep) this.kept += 1;
      }
      if (as === 'released' || (as === 'failed' && one.isRepeated === true)) counted.attempts -= 1;
      counted.claim = undefined;
      const retryAtMs = as === 'failed' || as === 'released' ? one.retryAtMs : undefined;
      const dueMs = retryAtMs === undefined ? undefined : retryAtMs - wallMs + this.#world.nowMs;
      this.#world.see({ type: as, key, id, worker, untilMs: dueMs });
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

  /** Whether it was ever stored. */
  isKnown(ref: DeliveryRef): boolean {
    return this.#deliveries.has(nameOf(ref));
  }

  /** Deliveries that were put back, deleted, or forgotten. */
  moved(type: 'redriven' | 'purged', all: readonly DeliveryRef[]): void {
    for (const one of all) {
      const event = { type, key: one.key, id: one.id };
      this.#world.see(event);
      this.#world.commit(event);
      this.#deadLetters.removed();
      if (type === 'redriven') this.#deliveries.set(nameOf(one), fresh(one, this.#of(one).round + 1));
    }
  }

  /** A claim that the worker has settled itself is not lost. */
  #lost(worker: string, claim: ClaimRef): void {
    const { lost, settled, again } = this.tallyOf(worker);
    const name = claimName(claim);
    // After a failover, or if it was given back, a worker may have claimed it twice.
    if (settled.has(name) && !again.has(name) && !this.forgottenIds.has(claim.id)) return;
    lost.add(`${name} ${String(this.#of(claim).round)}`);
  }

  knowsLost(worker: string, claim: ClaimRef): void {
    this.tallyOf(worker).knownLost.add(claimName(claim));
  }

  #of(ref: DeliveryRef): Counted {
    const counted = this.#deliveries.get(nameOf(ref));
    if (counted !== undefined) return counted;
    this.#world.wrong.push(`${ref.id} was claimed or settled, but never stored.`);
    return fresh(ref);
  }
}

function fresh({ key, id }: DeliveryRef, round = 0): Counted {
  return { ref: { key, id }, attempts: 0, strandings: 0, claim: undefined, round };
}

function nameOf({ key, id }: DeliveryRef): string {
  return JSON.stringify([key, id]);
}

function claimName({ key, id, attempt }: ClaimRef): string {
  return JSON.stringify([key, id, attempt]);
}
