import type { FleetBeat, FleetRegistry, FleetView } from '@webhook-backpressure/fleet';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ReceiverExchange } from '../../../../packages/inbox/src/receive/receiver-exchange.ts';
import { Scheduler } from '@webhook-backpressure/inbox/store';
import type { RefusalExchange } from '@webhook-backpressure/core/extend';

const OTHER = { member: 'other', ageMs: 0, state: '{"hasLeft":false}' };
const NEWS = { member: 'other', number: 1, news: '"first"' };

let clock: ManualClock;
let view: FleetView;
let isShared: boolean;
let isAway: boolean;
let beats: FleetBeat[];
const learn = vi.fn<RefusalExchange['learn']>();

/** A receiver on a store whose registry answers with `view`. */
function exchange(): ReceiverExchange {
  const registry: FleetRegistry = {
    beat(beat) {
      if (isAway) throw new Error('away');
      beats.push(beat);
      return { ...view, members: [...view.members, { ...OTHER, member: beat.member }] };
    },
  };
  const now = (): number => clock.now();
  const refusals = { learn, state: () => null, news: () => undefined, delivered: vi.fn(), leave: vi.fn() };
  const one = new ReceiverExchange({
    registry,
    clock,
    now,
    scheduler: new Scheduler(clock, now),
    random: () => 0.5,
    join: () => refusals as unknown as RefusalExchange,
    isShared: () => isShared,
  });
  one.begin();
  return one;
}

beforeEach(() => {
  clock = manualClock();
  view = { members: [OTHER], news: [] };
  [isShared, isAway, beats] = [true, false, []];
  learn.mockClear();
});

describe('a receiver among others on one store', () => {
  it('counts them, itself included, until the registry has been away for 10 s', () => {
    const one = exchange();
    expect(one.members(clock.now())).toBe(2);
    isAway = true;
    clock.advance(9000);
    expect(one.members(clock.now())).toBe(2);
    clock.advance(1500);
    expect(one.members(clock.now())).toBe(1);
  });

  it('does not count one that has left', () => {
    view = { members: [{ ...OTHER, state: '{"hasLeft":true}' }], news: [] };
    expect(exchange().members(clock.now())).toBe(1);
  });

  it('does not call the registry while no other process uses the store', () => {
    isShared = false;
    exchange();
    clock.advance(10_000);
    expect(beats).toEqual([]);
    isShared = true;
    clock.advance(500);
    expect(beats).toHaveLength(1);
  });

  it('reads each news once, although the registry returns it again', () => {
    view = { members: [OTHER], news: [NEWS] };
    exchange();
    view = { members: [OTHER], news: [NEWS, { ...NEWS, number: 2, news: '"second"' }] };
    clock.advance(5000);
    const read = learn.mock.calls.flatMap(([{ news }]) => news);
    expect(read).toEqual(['first', 'second']);
    expect(beats.at(-1)?.seen).toEqual({ other: 2 });
  });

  it('says that it leaves', async () => {
    await exchange().end();
    expect(JSON.parse(beats.at(-1)?.state ?? '')).toMatchObject({ hasLeft: true });
    clock.advance(10_000);
    expect(beats).toHaveLength(2);
  });
});
