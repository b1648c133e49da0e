import { describe, expect, it } from 'vitest';
import { FleetBed, TroubledRegistry, type Receiver, type Trouble } from './fleet-bed.ts';

const SOON_MS = 6000;
const AWAY: readonly Trouble[] = ['fails', 'hangs', 'loses-replies'];

async function settled(bed: FleetBed): Promise<Receiver[]> {
  const receivers = [bed.join(), bed.join(), bed.join(), bed.join()];
  await receivers[0]?.hold(100);
  bed.pass(2 * SOON_MS);
  expect(bed.shares).toEqual([34, 2, 2, 2]);
  bed.most = 0;
  return receivers;
}

describe('a fleet without its registry', () => {
  it.each(AWAY)('keeps the shares for 10 s and then makes them equal, when it %s', async (trouble) => {
    const bed = new FleetBed();
    const receivers = await settled(bed);
    for (const { registry } of receivers) registry.trouble = trouble;
    bed.pass(7000);
    expect(bed.shares).toEqual([34, 2, 2, 2]);
    bed.pass(10_000);
    expect(bed.shares).toEqual([10, 10, 10, 10]);
    for (const { fleet, events } of receivers) {
      expect(fleet.snapshot()).toMatchObject({ state: 'lost', concurrency: 40 });
      expect(events.at(-1)).toMatchObject({ type: 'fleet-lost', resource: 'db' });
    }
    expect(bed.most).toBe(40);
  });

  it.each(AWAY)('never exceeds the limit when it is back after 60 s in which it %s', async (trouble) => {
    const bed = new FleetBed();
    const receivers = await settled(bed);
    for (const { registry } of receivers) registry.trouble = trouble;
    bed.pass(60_000);
    for (const { registry } of receivers) registry.trouble = 'none';
    // With calls that hang, a member asks less often.
    bed.pass(40_000 + SOON_MS);
    expect(bed.shares).toEqual([34, 2, 2, 2]);
    expect(bed.most).toBe(40);
    for (const receiver of receivers) {
      expect(receiver.types()).toEqual(['fleet-joined', 'fleet-lost', 'fleet-restored']);
    }
  });

  it('continues with its shares when the registry loses all rows', async () => {
    const bed = new FleetBed();
    const shared = new TroubledRegistry(bed.clock);
    const receivers = [bed.join({}, {}, shared), bed.join({}, {}, shared)];
    await receivers[0]?.hold(100);
    bed.pass(SOON_MS);
    expect(bed.shares).toEqual([35, 5]);
    bed.most = 0;
    for (let round = 0; round < 5; round += 1) {
      shared.flush();
      bed.pass(3000);
      expect(bed.shares).toEqual([35, 5]);
    }
    expect(bed.most).toBe(40);
    expect(receivers[0]?.types()).toEqual(['fleet-joined']);
  });

  it('has C ÷ instances for each member that never had it', () => {
    const bed = new FleetBed();
    const away = new TroubledRegistry(bed.clock);
    away.trouble = 'fails';
    const one = bed.join({ instances: 3 }, {}, away);
    expect(one.share).toBe(13);
    bed.pass(60_000);
    expect(one.share).toBe(13);
    expect(one.types()).toEqual(['fleet-lost']);
    away.trouble = 'none';
    bed.pass(SOON_MS);
    expect(one.share).toBe(40);
    expect(one.types()).toEqual(['fleet-lost', 'fleet-joined']);
  });

  it('has C ÷ instances after 4 s without the first answer', () => {
    const bed = new FleetBed();
    const away = new TroubledRegistry(bed.clock);
    away.trouble = 'hangs';
    const one = bed.join({}, {}, away);
    bed.pass(3900);
    expect(one.share).toBe(2);
    bed.pass(200);
    expect(one.share).toBe(10);
  });

  it('exceeds the limit by at most an equal share while one member alone is cut off', async () => {
    const bed = new FleetBed();
    const receivers = await settled(bed);
    const [cut] = receivers as [Receiver];
    cut.registry.trouble = 'fails';
    bed.pass(30_000);
    expect(cut.share).toBe(10);
    expect(bed.most).toBe(50);
    cut.registry.trouble = 'none';
    const { overMs } = bed.watch(SOON_MS, 40);
    expect(overMs).toBeLessThan(3000);
    bed.pass(SOON_MS);
    expect(bed.shares).toEqual([34, 2, 2, 2]);
  });

  it('asks less and less often while calls hang, at least every 36 s', () => {
    const bed = new FleetBed();
    const registry = new TroubledRegistry(bed.clock);
    registry.trouble = 'hangs';
    bed.join({}, {}, registry);
    bed.pass(600_000);
    expect(registry.beats).toBeGreaterThan(17);
    expect(registry.beats).toBeLessThan(28);
  });

  it('ignores answers that come too late', async () => {
    const bed = new FleetBed();
    const one = bed.join();
    bed.pass(SOON_MS);
    one.registry.trouble = 'hangs';
    bed.pass(20_000);
    expect(one.fleet.snapshot().state).toBe('lost');
    for (const { resolve, reject } of one.registry.hanging.splice(0, 2)) {
      resolve({ members: [], news: [] });
      reject(new Error('late'));
    }
    await Promise.resolve();
    expect(one.fleet.snapshot().state).toBe('lost');
    one.registry.trouble = 'none';
    bed.pass(60_000);
    expect(one.fleet.snapshot().state).toBe('joined');
  });

  it.each([
    ['nothing', undefined],
    ['no lists', {}],
    ['rows of other programs', { members: [{ member: 'x', ageMs: 0, state: 'hello' }], news: [] }],
    ['states without numbers', { members: [{ member: 'x', ageMs: 0, state: '{"share":"9"}' }], news: [] }],
    ['news that are no JSON', { members: [], news: [{ member: 'x', number: 1, news: '{' }] }],
  ])('survives a registry that returns %s', (_, view) => {
    const bed = new FleetBed();
    const registry = new TroubledRegistry(bed.clock);
    registry.beat = () => view as never;
    const one = bed.join({}, {}, registry);
    bed.pass(30_000);
    expect(one.share).toBeGreaterThanOrEqual(10);
    expect(one.intake.snapshot().state).toBe('accepting');
  });

  it('refuses nothing for it', async () => {
    const bed = new FleetBed();
    const receivers = await settled(bed);
    for (const { registry } of receivers) registry.trouble = 'fails';
    bed.pass(60_000);
    for (const { intake } of receivers) {
      const { refused, withdrawn } = intake.snapshot().totals;
      expect(Object.values({ ...refused, ...withdrawn }).every((count) => count === 0)).toBe(true);
    }
  });
});
