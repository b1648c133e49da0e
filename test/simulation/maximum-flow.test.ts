import { describe, expect, it } from 'vitest';
import { stream } from '@webhook-backpressure/planner/parts';
import { Network } from './src/bound/maximum-flow.ts';

const random = stream(1, 'networks');
const upTo = (most: number): number => Math.floor(random() * (most + 1));

describe('the maximum flow', () => {
  /** The smallest cut, by trying all of them: it is as large as the maximum flow. */
  function smallestCut(nodes: number, edges: readonly (readonly [number, number, number])[]): number {
    let smallest = Infinity;
    for (let side = 0; side < 2 ** nodes; side += 1) {
      const isWithSource = (node: number): boolean =>
        node === 0 || (node !== 1 && ((side >> node) & 1) === 1);
      const cut = edges.reduce(
        (sum, [from, to, capacity]) => (isWithSource(from) && !isWithSource(to) ? sum + capacity : sum),
        0,
      );
      smallest = Math.min(smallest, cut);
    }
    return smallest;
  }

  it('is as large as the smallest cut', () => {
    for (let run = 0; run < 200; run += 1) {
      const nodes = 2 + upTo(5);
      const edges = Array.from({ length: upTo(14) }, () => {
        const [from, to] = [upTo(nodes - 1), upTo(nodes - 1)];
        return [from, to, upTo(9)] as const;
      });
      const network = new Network(nodes);
      for (const [from, to, capacity] of edges) network.connect(from, to, capacity);
      expect(network.maximumFlow(0, 1)).toBe(smallestCut(nodes, edges));
    }
  });

  it('passes pipes without a limit', () => {
    const network = new Network(3);
    network.connect(0, 2, 7);
    network.connect(2, 1, Infinity);
    expect(network.maximumFlow(0, 1)).toBe(7);
  });
});
