import { memoryRegistry } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { expect, it } from 'vitest';
import type { MemberState } from '../../../packages/fleet/src/member-state.ts';
import { View } from '../../../packages/fleet/src/view.ts';

const STATE: MemberState = {
  concurrency: 2,
  maxStartsPerSecond: 100,
  demand: 1,
  share: 1,
  claim: 1,
  hasLeft: false,
  refusals: null,
};

it('splits the drain rate among more members than the limit of concurrent deliveries', () => {
  const registry = memoryRegistry(manualClock());
  const own = { registry, resource: 'db', concurrency: 2, maxStartsPerSecond: 100, instances: 4 };
  const others = ['b', 'c', 'd', 'e'].map((member) => ({ member, state: STATE, atMs: 0 }));
  const view = new View('a', own, others);
  expect(view.target(1)).toBe(1);
  expect(view.rateOf(1)).toBe(20);
});
