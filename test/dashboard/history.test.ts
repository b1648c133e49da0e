import type { Admission, Permit } from '@webhook-backpressure/core';
import { observe } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { HistoryKeeper, SAMPLES } from '../../packages/dashboard/src/state/history.ts';
import { get, stateOf, watched } from './fixtures.ts';

describe('GET state', () => {
  it('has the state of this moment', async () => {
    const { page, intake, inbox } = watched();
    for (let count = 0; count < 20; count += 1) intake.admit({ key: 'a' });
    const state = await stateOf(page);
    expect(state).toMatchObject({ version: 1, allowUpdate: false });
    const snapshot = { ...intake.snapshot(), ...observe(intake).read() };
    expect(state.intakes['intake']?.snapshot).toEqual(JSON.parse(JSON.stringify(snapshot)));
    const ofInbox = { ...inbox.snapshot(), ...observe(inbox).read() };
    expect(state.inboxes['inbox']?.snapshot).toEqual(JSON.parse(JSON.stringify(ofInbox)));
  });

  it('has the last 15 minutes, which begin when the dashboard is created', async () => {
    const { page, intake, clock } = watched();
    for (let second = 0; second < 100; second += 1) {
      intake.admit();
      clock.advance(1000);
    }
    const history = (await stateOf(page)).intakes['intake']?.history;
    expect(history?.at).toHaveLength(100);
    const { state, depth, arrivals, refused, drainRate } = history?.series ?? {};
    expect(depth?.slice(0, 4)).toEqual([0, 1, 2, 3]);
    expect(arrivals).toEqual(Array.from({ length: 100 }, () => 1));
    expect(refused).toContain(1);
    expect(drainRate?.[0]).toBe(null);
    expect(state?.[0]).toBe('accepting');
    expect(new Set(state)).toContain('shedding');
  });

  it('has a long wait in the 5 s in which it ended, and not in the minute after', async () => {
    const { page, intake, clock } = watched();
    const busy = intake.admit() as Admission;
    const waiting = intake.admit() as Admission;
    clock.advance(9000);
    (busy.permit as Permit).release();
    ((await waiting.permit) as Permit).release();
    for (let second = 0; second < 120; second += 1) {
      ((intake.admit() as Admission).permit as Permit).release();
      clock.advance(1000);
    }
    const { waitP50, waitP99 } = (await stateOf(page)).intakes['intake']?.history?.series ?? {};
    expect(waitP99?.filter((wait) => Number(wait) > 8000)).toHaveLength(5);
    expect(waitP50?.at(-1)).toBe(0);
  });

  it('has as many values in each column', async () => {
    const { page, clock } = watched();
    for (let second = 0; second < 905; second += 1) clock.advance(1000);
    const { intakes, inboxes } = await stateOf(page);
    for (const view of [intakes['intake'], inboxes['inbox']]) {
      const { at, series } = view?.history ?? { at: [], series: {} };
      expect(at).toHaveLength(SAMPLES);
      for (const [name, values] of Object.entries(series)) expect(values, name).toHaveLength(SAMPLES);
    }
    expect(Object.keys(inboxes['inbox']?.history?.series ?? {})).toEqual(
      expect.arrayContaining(['bytes', 'oldestAgeMs', 'deadLetters', 'stored']),
    );
  });

  it('shows keys and names as they are', async () => {
    const { page, intake } = watched();
    const key = '<script>alert(1)</script>';
    intake.update({ shed: { [key]: true, ['🙈'.repeat(128)]: true } });
    const answer = await page.fetch(get('state'));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { options } = (await stateOf(page)).intakes['intake']?.snapshot ?? {};
    expect(options?.shed).toEqual([key, '🙈'.repeat(128)]);
  });

  it('has a startedAt that reveals a restart', async () => {
    const before = watched();
    const { startedAt } = await stateOf(before.page);
    expect((await stateOf(before.page)).startedAt).toBe(startedAt);
    expect(startedAt).toBeGreaterThan(Date.UTC(2020));
  });

  it('leaves out the seconds in which the event loop was blocked', async () => {
    const { page, intake, clock } = watched();
    clock.advance(1000);
    clock.jump(10_000);
    for (let count = 0; count < 20; count += 1) intake.admit();
    clock.advance(0);
    clock.advance(1000);
    const history = (await stateOf(page)).intakes['intake']?.history;
    expect(history?.series['arrivals']).toEqual([0, 2, 0]);
  });

  it('has the changes that were made before it was opened', async () => {
    const { page, intake, clock } = watched();
    for (let second = 1; second <= 120; second += 1) {
      intake.update({ capacity: 10 + second });
      clock.advance(1000);
    }
    const { changes } = await stateOf(page);
    expect(changes).toHaveLength(100);
    expect(changes?.at(-1)).toMatchObject({ kind: 'intake', name: 'intake', options: { capacity: 130 } });
  });
});

describe('a history', () => {
  it('keeps the last 900 values, with three decimals', () => {
    const keeper = new HistoryKeeper<number | null, null>({ depth: (depth) => depth });
    for (let at = 0; at < SAMPLES; at += 1) keeper.add(at, at, null);
    keeper.add(SAMPLES, null, null);
    keeper.add(SAMPLES + 1, 3.14159, null);
    const { at, series } = keeper.read();
    expect(at).toHaveLength(SAMPLES);
    expect(series['depth']?.slice(0, 1)).toEqual([2]);
    expect(series['depth']?.slice(-2)).toEqual([null, 3.142]);
  });

  it('has null for a state that it does not know', () => {
    const keeper = new HistoryKeeper<null, null>({ state: () => -1 });
    keeper.add(1, null, null);
    expect(keeper.read()).toEqual({ at: [1], series: { state: [null] } });
  });

  it('has no falling times when the clock of the machine is set back', () => {
    const keeper = new HistoryKeeper<number, null>({ depth: (depth) => depth });
    for (const [at, depth] of [
      [1000, 1],
      [2000, 2],
      [3000, 3],
      [1999, 4],
      [3000, 5],
    ] as const) {
      keeper.add(at, depth, null);
    }
    expect(keeper.read()).toEqual({ at: [1000, 1999, 3000], series: { depth: [1, 4, 5] } });
    keeper.add(500, 6, null);
    expect(keeper.read()).toEqual({ at: [500], series: { depth: [6] } });
  });
});
