import { describe, expect, it } from 'vitest';
import { ExpectedRetries } from '../../../../packages/core/src/refusals/expected-retries.ts';
import { createBench, exponential, seeded } from '../../harness.ts';
import { runUntil, Workshop } from '../../workshop.ts';

const ROOM = { places: 50, perSecond: 100 };

describe('expected retries', () => {
  it('at one moment are as many as the queue holds, and the rest a second later each', () => {
    const expected = new ExpectedRetries();
    const seconds = Array.from({ length: 180 }, () => {
      const second = expected.firstWithRoom(1, 400, ROOM);
      expected.note(400 + second * 1000, 400);
      return second;
    });
    const counts = [1, 2, 3, 4].map((second) => seconds.filter((each) => each === second).length);
    // Ten leave the queue while they arrive.
    expect(counts).toEqual([60, 60, 60, 0]);
  });

  it('at another moment of the same second have room as soon as others have left', () => {
    const expected = new ExpectedRetries();
    for (let i = 0; i < 60; i += 1) expected.note(3050, 0);
    expect(expected.firstWithRoom(3, 90, ROOM)).toBe(4);
    expect(expected.firstWithRoom(3, 250, ROOM)).toBe(3);
  });

  it('are not put before others that would then find no room', () => {
    const expected = new ExpectedRetries();
    for (let i = 0; i < 20; i += 1) expected.note(3050, 0);
    for (let i = 0; i < 50; i += 1) expected.note(3150, 0);
    expect(expected.firstWithRoom(3, 0, ROOM)).toBe(4);
  });

  it('are put at the first second if there is no room after any of the nine that are tried', () => {
    const expected = new ExpectedRetries();
    for (let second = 1; second < 20; second += 1)
      for (let i = 0; i < 60; i += 1) expected.note(second * 1000, 0);
    expect(expected.firstWithRoom(2, 0, ROOM)).toBe(2);
    expect(expected.firstWithRoom(12, 0, ROOM)).toBe(20);
  });

  it('are forgotten when they have passed, and when they are cleared', () => {
    const expected = new ExpectedRetries();
    for (let i = 0; i < 60; i += 1) expected.note(3050, 0);
    // The ring has gone round once.
    expect(expected.firstWithRoom(3, 900_000, ROOM)).toBe(3);
    for (let i = 0; i < 60; i += 1) expected.note(903_050, 900_000);
    expected.clear();
    expect(expected.firstWithRoom(3, 900_050, ROOM)).toBe(3);
  });

  it('further ahead than 15 minutes are not counted', () => {
    const expected = new ExpectedRetries();
    for (let i = 0; i < 100; i += 1) expected.note(2_000_000, 0);
    expect(expected.firstWithRoom(2000, 0, ROOM)).toBe(2000);
    expect(expected.firstWithRoom(200, 0, ROOM)).toBe(200);
  });
});

describe('a queue of less than a second of work', () => {
  /** 500 events of one sender within so many milliseconds; it obeys, and is late by up to 20 ms. */
  async function attempts(withinMs: number, serviceMs: () => number): Promise<number> {
    const random = seeded(1);
    const bench = createBench({
      ...{ concurrency: 5, capacity: 50, random: seeded(2) },
      retryAfter: { strategy: 'booked' },
    });
    const { clock } = bench;
    const workshop = new Workshop(bench, serviceMs);
    for (let ms = 0; ms < 20_000; ms += 50) clock.setTimeout(() => workshop.bring(), ms);
    await runUntil(clock, 21_000);
    const before = workshop.handled.length;
    let sent = 0;
    const send = (id: string): void => {
      sent += 1;
      const refusal = workshop.bring({ id });
      if (refusal === undefined) return;
      clock.setTimeout(
        () => {
          send(id);
        },
        refusal.retryAfterSeconds * 1000 + 20 * random(),
      );
    };
    for (let at = 0; at < 500; at += 1)
      clock.setTimeout(() => {
        send(`e${String(at)}`);
      }, withinMs * random());
    await runUntil(clock, 40_000);
    expect(workshop.handled.length - before).toBe(500);
    return sent / 500;
  }

  it.each([100, 300, 800])('handles 500 events within %i ms by two attempts each', async (withinMs) => {
    expect(await attempts(withinMs, () => 50)).toBeLessThanOrEqual(2);
  });

  it('does so with random handling times', async () => {
    const random = seeded(3);
    expect(await attempts(200, () => exponential(random, 50))).toBeLessThanOrEqual(2);
  });
});
