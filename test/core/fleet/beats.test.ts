import { type FleetView, Beats } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { expect, it, vi } from 'vitest';
import { type BeatParts } from '../../../packages/fleet/src/beats.ts';

it('ignores an answer that comes after its time, since the beat has failed', async () => {
  const clock = manualClock();
  const calls: ((view: FleetView) => void)[] = [];
  const [answered, failed] = [vi.fn<BeatParts['answered']>(), vi.fn<BeatParts['failed']>()];
  const beats = new Beats({
    clock,
    answered,
    failed,
    now: () => clock.now(),
    random: () => 0.5,
    registry: { beat: () => new Promise((resolve) => calls.push(resolve)) },
    compose: (number) => ({ resource: 'db', member: 'a', number, state: '', news: '', seen: {} }),
  });
  beats.send(clock.now());
  clock.advance(4000);
  expect(failed).toHaveBeenCalledOnce();
  calls[0]?.({ members: [], news: [] });
  await Promise.resolve();
  await Promise.resolve();
  expect(answered).not.toHaveBeenCalled();
  // It shows that the server answers again, so the next beat is not delayed further.
  expect(beats.dueMs).toBeLessThanOrEqual(clock.now() + 2000);
  clock.advance(2000);
  beats.send(clock.now());
  calls[1]?.({ members: [], news: [] });
  await Promise.resolve();
  await Promise.resolve();
  expect(answered).toHaveBeenCalledOnce();
});
