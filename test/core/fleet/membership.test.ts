import { createIntake, type Intake } from '@webhook-backpressure/core';
import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { type FleetOptions, joinFleet, memoryRegistry } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { letIn, startedNow } from '../harness.ts';
import { FleetBed, TroubledRegistry } from './fleet-bed.ts';

const SOON_MS = 6000;

describe('joinFleet', () => {
  const registry = memoryRegistry(manualClock());
  const good: FleetOptions = { registry, resource: 'db', concurrency: 40 };
  const intake = (): Intake => createIntake({ clock: manualClock() });
  const inbox = createInbox({ store: memoryStore(), process: () => undefined, verify: false });

  it.each([
    ['an inbox', () => joinFleet(inbox as unknown as Intake, good), 'ERR_WBP_FLEET'],
    ['no intake', () => joinFleet(undefined as unknown as Intake, good), 'ERR_WBP_FLEET'],
    ['no options', () => joinFleet(intake(), undefined as never), 'ERR_WBP_OPTIONS'],
    [
      'an unknown option',
      () => joinFleet(intake(), { ...good, limit: 3 } as never),
      'ERR_WBP_UNKNOWN_OPTION',
    ],
    ['no registry', () => joinFleet(intake(), { ...good, registry: {} as never }), 'ERR_WBP_FLEET'],
    ['a resource without a name', () => joinFleet(intake(), { ...good, resource: '' }), 'ERR_WBP_FLEET'],
    ['a long resource', () => joinFleet(intake(), { ...good, resource: 'x'.repeat(201) }), 'ERR_WBP_FLEET'],
    ['a resource with a NUL', () => joinFleet(intake(), { ...good, resource: 'x\0' }), 'ERR_WBP_FLEET'],
    ['a concurrency of 0', () => joinFleet(intake(), { ...good, concurrency: 0 }), 'ERR_WBP_CONCURRENCY'],
    [
      'a range',
      () => joinFleet(intake(), { ...good, concurrency: { max: 9 } as never }),
      'ERR_WBP_CONCURRENCY',
    ],
    [
      'a drain rate of 0',
      () => joinFleet(intake(), { ...good, maxStartsPerSecond: 0 }),
      'ERR_WBP_MAX_STARTS_PER_SECOND',
    ],
    [
      'a range of rates',
      () => joinFleet(intake(), { ...good, maxStartsPerSecond: {} as never }),
      'ERR_WBP_MAX_STARTS_PER_SECOND',
    ],
    ['no instances', () => joinFleet(intake(), { ...good, instances: 0 }), 'ERR_WBP_FLEET'],
  ])('rejects %s', (_, join, code) => {
    expect(join).toThrow(expect.objectContaining({ code }));
  });

  it('rejects an intake that is a member already, until it has left', async () => {
    const one = intake();
    const fleet = joinFleet(one, good);
    expect(() => joinFleet(one, good)).toThrow(expect.objectContaining({ code: 'ERR_WBP_FLEET' }));
    await fleet.leave();
    await joinFleet(one, good).leave();
  });

  it('rejects an intake that is closing', async () => {
    const one = intake();
    await one.close();
    expect(() => joinFleet(one, good)).toThrow(expect.objectContaining({ code: 'ERR_WBP_FLEET' }));
  });
});

describe('a member', () => {
  it('has a maximum for a learned concurrency, and keeps its minimum', () => {
    const bed = new FleetBed();
    const one = bed.join({}, { concurrency: { initial: 4, min: 3, max: 8 } });
    expect(one.intake.snapshot().options.concurrency).toEqual({ initial: 2, min: 2, max: 2 });
    bed.pass(SOON_MS);
    expect(one.intake.snapshot().options.concurrency).toEqual({ initial: 4, min: 3, max: 40 });
  });

  it('does not claim more than a quarter above what it has learned', async () => {
    const bed = new FleetBed();
    const learning = bed.join({}, { concurrency: { initial: 4, min: 1, max: 8 } });
    const other = bed.join();
    await Promise.all([learning.hold(100), other.hold(100)]);
    bed.pass(60_000);
    // It began with the floor of 2, which handles nothing to the end, and so learns nothing.
    expect(
      learning.fleet
        .snapshot()
        .members.map(({ demand }) => demand)
        .sort(),
    ).toEqual([3, 40]);
    expect([learning.fleet.snapshot().share, other.fleet.snapshot().share]).toEqual([5, 35]);
  });

  it('takes an update as an upper bound of its share', async () => {
    const bed = new FleetBed();
    const [one, other] = [bed.join(), bed.join()];
    await Promise.all([one.hold(100), other.hold(100)]);
    bed.pass(SOON_MS);
    one.intake.update({ concurrency: 5 });
    expect(one.share).toBe(5);
    await one.hold(5);
    await one.hold(100);
    bed.pass(2 * SOON_MS);
    expect(bed.shares).toEqual([5, 35]);
    one.intake.update({ concurrency: 1000 });
    expect(one.share).toBe(5);
    bed.pass(SOON_MS);
    await other.hold(20);
    bed.pass(SOON_MS);
    expect(bed.shares).toEqual([20, 20]);
    expect(one.events.filter(({ type }) => type === 'updated')).toHaveLength(2);
  });

  it('changes nothing at an update with an error', () => {
    const bed = new FleetBed();
    const one = bed.join();
    bed.pass(SOON_MS);
    expect(() => {
      one.intake.update({ concurrency: 5, capacity: 0 });
    }).toThrow();
    bed.pass(SOON_MS);
    expect(one.share).toBe(40);
  });

  it('gets the part of the drain rate that its share is of the concurrency', () => {
    const bed = new FleetBed();
    const [one, other] = [bed.join({ maxStartsPerSecond: 100 }), bed.join({ maxStartsPerSecond: 100 })];
    bed.pass(SOON_MS);
    expect(one.fleet.snapshot()).toMatchObject({ maxStartsPerSecond: 100, share: 20, shareOfMaxStarts: 50 });
    expect(other.intake.snapshot().options.maxStartsPerSecond).toBe(50);
    one.intake.update({ maxStartsPerSecond: 10 });
    expect(one.intake.snapshot().options.maxStartsPerSecond).toBe(10);
  });

  it('has its own limits again when it has left', async () => {
    const bed = new FleetBed();
    const one = bed.join({ maxStartsPerSecond: 100 }, { concurrency: 7 });
    bed.pass(SOON_MS);
    one.intake.update({ maxWaitMs: 5000 });
    await one.fleet.leave();
    expect(one.intake.snapshot().options).toMatchObject({ concurrency: 7, maxStartsPerSecond: 1_000_000 });
    expect(one.intake.snapshot().fleet).toBeNull();
    expect(one.fleet.snapshot().state).toBe('left');
    const { beats } = one.registry;
    bed.pass(60_000);
    expect(one.registry.beats).toBe(beats);
  });

  it('leaves when its intake has closed, and keeps its share until then', async () => {
    const bed = new FleetBed();
    const [one, other] = [bed.join(), bed.join()];
    bed.pass(SOON_MS);
    const permit = startedNow(letIn(one.intake.admit()));
    const closing = one.intake.close({ timeoutMs: 30_000 });
    bed.pass(20_000);
    expect(one.fleet.snapshot().state).toBe('joined');
    expect(bed.sum).toBe(40);
    permit.release();
    expect((await closing).completed).toBe(1);
    bed.pass(3000);
    expect(other.share).toBe(40);
  });

  it('delays the end of its intake by at most a second when the registry hangs', async () => {
    const bed = new FleetBed();
    const one = bed.join();
    bed.pass(SOON_MS);
    one.registry.trouble = 'hangs';
    let isClosed = false;
    const closing = one.intake.close().then(() => {
      isClosed = true;
    });
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
    expect(isClosed).toBe(false);
    bed.clock.advance(1000);
    await closing;
    expect(bed.clock.pending).toBe(0);
  });

  it('leaves at an event', async () => {
    const bed = new FleetBed();
    const one = bed.join();
    const registry = new TroubledRegistry(bed.clock, bed.registry);
    const intake = createIntake({ clock: bed.clock });
    await one.fleet.leave();
    bed.drop(one);
    const left: Promise<void>[] = [];
    intake.subscribe(({ type }) => {
      if (type === 'fleet-joined') queueMicrotask(() => left.push(fleet.leave()));
    });
    const fleet = joinFleet(intake, { registry, resource: 'db', concurrency: 40 });
    await Promise.resolve();
    await Promise.all(left);
    bed.pass(60_000);
    expect(registry.beats).toBe(2);
    expect(bed.clock.pending).toBe(0);
  });

  it('beats every 2 s, ± 20 %', () => {
    const bed = new FleetBed();
    const one = bed.join();
    bed.pass(10_000);
    const { beats } = one.registry;
    bed.pass(200_000);
    expect(one.registry.beats - beats).toBeGreaterThan(90);
    expect(one.registry.beats - beats).toBeLessThan(112);
  });

  it('keeps its share while its demand changes by little', async () => {
    const bed = new FleetBed();
    const [one, other] = [bed.join({ concurrency: 400 }), bed.join({ concurrency: 400 })];
    await Promise.all([one.hold(150), other.hold(60)]);
    bed.pass(2 * SOON_MS);
    const shares = bed.shares.join();
    for (let round = 0; round < 40; round += 1) {
      await one.hold(round % 2 === 0 ? 141 : 150);
      bed.pass(500);
      expect(bed.shares.join()).toBe(shares);
    }
  });
});
