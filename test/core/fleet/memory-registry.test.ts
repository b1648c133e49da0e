import { memoryRegistry } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describeRegistry } from './registry-suite.ts';

describeRegistry('memoryRegistry', () => {
  const clock = manualClock(1_000_000);
  const registry = memoryRegistry(clock);
  return {
    registry: () => registry,
    age: (ms) => {
      clock.jump(ms);
    },
    dispose: () => undefined,
  };
});
