import type { Span } from './attempt-spans.ts';
import type { Capacity } from './capacity.ts';
import { Network } from './maximum-flow.ts';
import type { TimeGrid } from './time-grid.ts';

/** Deliveries of one sender that arrive in the same bucket. */
export interface Group {
  count: number;
  firstMs: number;
  lastMs: number;
}

/** Flows are integers, so a delivery is many units: a bucket may have room for a part of one. */
const UNITS = 1000;
const SOURCE = 0;
const SINK = 1;
/** Before the nodes of the tree. */
const FIRST = 2;

/**
 * The network from the deliveries to the workers' time. A span covers many buckets, so between them is a binary tree,
 * whose inner nodes lead to all buckets below.
 *
 * Each bucket leads to the workers of its time. With an inbox it leads to the places of its time: those that became free
 * in it, and those that were free before, at most all.
 */
export class Supply {
  readonly #grid: TimeGrid;
  readonly #demands: { readonly count: number; readonly nodes: readonly number[] }[] = [];
  readonly #leaves: number;
  readonly #connectTime: (network: Network) => void;

  /** @param places - of an inbox. Undefined: a delivery is handled while its sender waits. */
  constructor(grid: TimeGrid, capacity: Capacity, places: number | undefined) {
    this.#grid = grid;
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(2, grid.size)));
    this.#connectTime = (network) => {
      for (let bucket = 0; bucket < grid.size; bucket += 1) {
        const leaf = FIRST + this.#leaves + bucket;
        const handled = capacity.between(grid.fromMs(bucket), grid.toMs(bucket));
        network.connect(leaf, SINK, Math.ceil(handled * UNITS));
        if (places !== undefined) network.connect(leaf, bucket === 0 ? SINK : leaf - 1, places * UNITS);
      }
    };
  }

  /** Deliveries that can be handled, or stored, in these spans after their arrival. */
  demand({ count, firstMs, lastMs }: Group, spans: readonly Span[]): void {
    const nodes: number[] = [];
    for (const { fromMs, toMs } of spans) {
      const last = toMs === Infinity ? this.#grid.size - 1 : this.#grid.before(lastMs + toMs);
      this.#cover(this.#grid.at(firstMs + fromMs), last, nodes);
    }
    this.#demands.push({ count, nodes });
  }

  /** The most deliveries that can be handled, or stored, in all. */
  most(): number {
    const first = FIRST + 2 * this.#leaves;
    const network = new Network(first + this.#demands.length);
    for (let node = 1; node < this.#leaves; node += 1) {
      network.connect(FIRST + node, FIRST + 2 * node, Infinity);
      network.connect(FIRST + node, FIRST + 2 * node + 1, Infinity);
    }
    this.#connectTime(network);
    for (const [index, { count, nodes }] of this.#demands.entries()) {
      network.connect(SOURCE, first + index, count * UNITS);
      for (const node of nodes) network.connect(first + index, FIRST + node, Infinity);
    }
    return Math.floor(network.maximumFlow(SOURCE, SINK) / UNITS);
  }

  /** Adds the nodes of the tree that cover these buckets. */
  #cover(first: number, last: number, nodes: number[]): void {
    let low = this.#leaves + first;
    let high = this.#leaves + last + 1;
    while (low < high) {
      if (low % 2 === 1) nodes.push(low++);
      if (high % 2 === 1) nodes.push(--high);
      low /= 2;
      high /= 2;
    }
  }
}
