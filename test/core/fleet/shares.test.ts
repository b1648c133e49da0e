import { describe, expect, it } from 'vitest';
import { seeded } from '../harness.ts';
import { FleetBed, type Receiver } from './fleet-bed.ts';

/** Two beats and a hurried one, at their longest. */
const SOON_MS = 6000;

describe('the shares of a fleet', () => {
  it('are the whole limit for one member, within half a second', () => {
    const bed = new FleetBed();
    const one = bed.join();
    expect(one.share).toBe(2);
    bed.pass(500);
    expect(one.share).toBe(40);
    expect(one.fleet.snapshot()).toMatchObject({ state: 'joined', share: 40, concurrency: 40 });
  });

  it('are equal without load', () => {
    const bed = new FleetBed();
    for (let i = 0; i < 4; i += 1) bed.join();
    bed.pass(2 * SOON_MS);
    expect(bed.shares).toEqual([10, 10, 10, 10]);
  });

  it('follow the demand within six seconds, and never exceed the limit', async () => {
    const bed = new FleetBed();
    const receivers = [bed.join(), bed.join(), bed.join(), bed.join()];
    bed.pass(2 * SOON_MS);
    bed.most = 0;
    await receivers[2]?.hold(100);
    bed.pass(SOON_MS);
    expect(bed.shares).toEqual([2, 2, 34, 2]);
    // The demand of the one that was busy falls slowly.
    await receivers[2]?.hold(0);
    await receivers[0]?.hold(100);
    bed.pass(5 * SOON_MS);
    expect(bed.shares).toEqual([34, 2, 2, 2]);
    expect(bed.most).toBe(40);
  });

  it('begin at the floor for a newcomer, which grows after the others have shrunk', async () => {
    const bed = new FleetBed();
    const first = bed.join();
    await first.hold(100);
    bed.pass(SOON_MS);
    expect(first.share).toBe(40);
    const second = bed.join();
    await second.hold(100);
    expect(second.share).toBe(2);
    const { overMs, most } = bed.watch(SOON_MS, 40);
    expect(most).toBe(42);
    expect(overMs).toBeLessThanOrEqual(2400);
    expect(first.share).toBe(20);
    await first.hold(20);
    bed.pass(SOON_MS);
    expect(bed.shares).toEqual([20, 20]);
  });

  it('grow only as far as active deliveries of the others have ended', async () => {
    const bed = new FleetBed();
    const [first, second] = [bed.join(), bed.join()];
    await first.hold(100);
    bed.pass(2 * SOON_MS);
    expect(bed.shares).toEqual([35, 5]);
    expect(first.intake.snapshot().active).toBe(35);
    await second.hold(100);
    bed.pass(4 * SOON_MS);
    expect(first.share).toBe(20);
    expect(bed.active).toBeLessThanOrEqual(40);
    // Each delivery that ends at the first receiver makes room for one at the second.
    await first.hold(30);
    for (let left = 30; left >= 20; left -= 1) {
      await first.hold(left);
      bed.pass(500);
      expect(bed.active).toBeLessThanOrEqual(40);
    }
    await first.hold(100);
    bed.pass(SOON_MS);
    expect(bed.receivers.map(({ intake }) => intake.snapshot().active)).toEqual([20, 20]);
  });

  it('pass to the others with their next beats when a member leaves', async () => {
    const bed = new FleetBed();
    const [first, second] = [bed.join(), bed.join()];
    bed.pass(SOON_MS);
    await second.fleet.leave();
    bed.drop(second);
    bed.pass(3000);
    expect(first.share).toBe(40);
    expect(second.fleet.snapshot().state).toBe('left');
  });

  it('pass to the others after 10 s when a member dies', () => {
    const bed = new FleetBed();
    const [first, second] = [bed.join(), bed.join()];
    bed.pass(SOON_MS);
    second.die();
    bed.pass(7000);
    expect(bed.sum).toBe(40);
    bed.drop(second);
    bed.pass(9000);
    expect(first.share).toBe(40);
  });

  it('are 1 for each of more members than the limit, with a warning', () => {
    const bed = new FleetBed();
    for (let i = 0; i < 5; i += 1) bed.join({ concurrency: 3 });
    bed.pass(SOON_MS);
    expect(bed.shares).toEqual([1, 1, 1, 1, 1]);
    expect(bed.receivers[0]?.types()).toEqual(['fleet-joined', 'warning']);
    expect(bed.receivers[0]?.events.at(-1)).toMatchObject({ code: 'WBP_FLEET_SIZE' });
  });

  it('are of the smallest limit while members have different ones, with a warning', async () => {
    const bed = new FleetBed();
    const [first, second] = [bed.join({ concurrency: 40 }), bed.join({ concurrency: 20 })];
    bed.pass(2 * SOON_MS);
    expect(bed.shares).toEqual([10, 10]);
    expect(first.events.at(-1)).toMatchObject({ type: 'warning', code: 'WBP_FLEET_LIMITS' });
    await second.fleet.leave();
    bed.drop(second);
    bed.pass(SOON_MS);
    expect(first.share).toBe(40);
  });

  it('of one resource are independent of those of another', () => {
    const bed = new FleetBed();
    const [first, other] = [bed.join(), bed.join({ resource: 'other' })];
    bed.pass(SOON_MS);
    expect([first.share, other.share]).toEqual([40, 40]);
  });

  it('do not exceed the limit under random load, and use it again afterwards', async () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = seeded(seed);
      const bed = new FleetBed(seed);
      const members = 2 + Math.floor(random() * 6);
      for (let i = 0; i < members; i += 1) bed.join({ concurrency: 48 });
      bed.pass(2 * SOON_MS);
      bed.most = 0;
      for (let step = 0; step < 60; step += 1) {
        const receiver = bed.receivers[Math.floor(random() * members)] as Receiver;
        await receiver.hold(random() < 0.3 ? 0 : Math.floor(random() * 100));
        bed.pass(1000 * random());
        expect(bed.most).toBeLessThanOrEqual(48);
      }
      bed.pass(60_000);
      expect(bed.sum).toBe(48);
    }
  });
});
