import { stream, type Random } from '../base/random.ts';
import type { Balancing } from '../scenario/scenario.ts';

/** A receiver, as the balancer sees it. */
export interface Balanced {
  readonly index: number;
  /** Open requests: queued or being handled. */
  connections: number;
}

/** Distributes requests over the living receivers. A dead receiver gets no requests from its death on. */
export class Balancer<R extends Balanced> {
  readonly #how: Balancing;
  readonly #random: Random;
  readonly #living: R[] = [];
  #turn = 0;

  constructor(how: Balancing, seed: number) {
    this.#how = how;
    this.#random = stream(seed, 'balancer');
  }

  add(receiver: R): void {
    this.#living.push(receiver);
  }

  remove(receiver: R): void {
    this.#living.splice(this.#living.indexOf(receiver), 1);
  }

  /** The receiver of an attempt of delivery `i`. */
  choose(i: number): R {
    const living = this.#living;
    if (this.#how === 'random') return living[Math.floor(this.#random() * living.length)] as R;
    if (this.#how === 'hash') return best(living, (receiver) => weight(i, receiver.index));
    // With least-connections too: of receivers with equally few, each gets its turn.
    this.#turn = (this.#turn + 1) % living.length;
    if (this.#how === 'round-robin') return living[this.#turn] as R;
    const rotated = [...living.slice(this.#turn), ...living.slice(0, this.#turn)];
    return best(rotated, (receiver) => -receiver.connections);
  }
}

function best<R>(receivers: readonly R[], rank: (receiver: R) => number): R {
  return receivers.reduce((first, other) => (rank(other) > rank(first) ? other : first));
}

/** Rendezvous hashing: a delivery stays with its receiver when others join or die. */
function weight(i: number, receiver: number): number {
  let hash = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(receiver + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
