import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bookings } from '../../../../packages/core/src/refusals/bookings.ts';

/** 100 retries per second can be accepted. */
const SPACING_MS = 10;
const RATE = 100;

/** Books the next time for the key, and returns it. */
function book(bookings: Bookings, key: string, nowMs: number, earliestMs = nowMs): number {
  const atMs = bookings.next(key, Math.max(nowMs, earliestMs));
  bookings.add(key, Math.max(nowMs, earliestMs), SPACING_MS, atMs);
  return atMs;
}

function perSecond(times: readonly number[]): number[] {
  const counts: number[] = [];
  for (const ms of times) counts[Math.floor(ms / 1000)] = (counts[Math.floor(ms / 1000)] ?? 0) + 1;
  return Array.from(counts, (count: number | undefined) => count ?? 0);
}

describe('the schedule of bookings', () => {
  it('gives one key the whole rate, and each booking its own time', () => {
    const bookings = new Bookings();
    const times = Array.from({ length: 5000 }, () => book(bookings, 'shop', 0, 3000));
    expect(times[0]).toBe(3000);
    expect(new Set(times).size).toBe(5000);
    expect(perSecond(times).slice(3)).toEqual(new Array(50).fill(RATE));
    expect(bookings.total).toBe(5000);
  });

  it.each([10, 100, 500, 1000])('takes no longer for %i keys than for one', (keys) => {
    const bookings = new Bookings();
    const times = Array.from({ length: 5000 }, (_, i) => book(bookings, `key ${String(i % keys)}`, 0));
    expect(Math.max(...times)).toBeLessThanOrEqual(50_000 * 1.05);
    // The number of keys is not known when the first keys book.
    expect(Math.max(...perSecond(times))).toBeLessThanOrEqual(2 * RATE);
  });

  it('spreads thousands of keys with one delivery each like one key', () => {
    const bookings = new Bookings();
    const times = Array.from({ length: 5000 }, (_, i) => book(bookings, `tenant ${String(i)}`, 0));
    expect(perSecond(times)).toEqual(new Array(50).fill(RATE));
  });

  it('does not make a key wait for the bookings of another', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 50_000; i += 1) book(bookings, 'noisy', 0);
    expect(bookings.next('noisy', 0)).toBe(500_000);
    const times = Array.from({ length: 200 }, () => book(bookings, 'quiet', 0));
    // From now on it has half of the rate.
    expect(Math.max(...times)).toBeLessThanOrEqual((200 / RATE) * 2 * 1000 + 100);
  });

  it('does not make a key with an account wait for a flood of invented keys', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 2; i += 1) book(bookings, 'shop', 0);
    const waits: number[] = [];
    for (let i = 0; i < 100_000; i += 1) {
      const nowMs = i * 0.4;
      bookings.advance(nowMs, 1);
      book(bookings, `invented ${String(i)}`, nowMs, nowMs + 3000);
      if (i % 100 === 0) waits.push(book(bookings, 'shop', nowMs, nowMs + 3000) - nowMs);
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(3100);
  });

  it('moves a key that books again within a thousand others out of the line', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 20_000; i += 1) book(bookings, `invented ${String(i)}`, 0);
    expect(book(bookings, 'shop', 0)).toBeGreaterThanOrEqual(200_000);
    for (let i = 0; i < 999; i += 1) book(bookings, `also invented ${String(i)}`, 0);
    // Its second booking comes one round of the remembered keys after its first one, the third with its account.
    expect(book(bookings, 'shop', 0)).toBeLessThanOrEqual(200_000 + 10_100);
    for (let i = 0; i < 20_000; i += 1) book(bookings, `invented later ${String(i)}`, 0);
    expect(book(bookings, 'shop', 0) - 210_000).toBeLessThanOrEqual(100);
  });

  it('divides the rate equally between the line and the accounts', () => {
    for (const isLineFirst of [true, false]) {
      const bookings = new Bookings();
      for (let i = 0; i < 2; i += 1) book(bookings, 'busy', 0);
      const inLine = (i: number): number => book(bookings, `one ${String(i)}`, 0);
      const inAccount = (): number => book(bookings, 'busy', 0);
      const [first, second] = isLineFirst ? [inLine, inAccount] : [inAccount, inLine];
      for (let i = 0; i < 10_000; i += 1) first(i);
      const counts = perSecond(Array.from({ length: 1000 }, (_, i) => second(i)));
      expect(Math.min(...counts.slice(1, -1))).toBeGreaterThanOrEqual(0.45 * RATE);
      expect(Math.max(...counts)).toBeLessThanOrEqual(0.55 * RATE);
    }
  });

  it('has at most a thousand accounts, and one line for all other keys', () => {
    const bookings = new Bookings();
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 1000; i += 1) book(bookings, `busy ${String(i)}`, 0);
    }
    const before = bookings.next('busy 0', 0);
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 500; i += 1) book(bookings, `too many ${String(i)}`, 0);
    }
    expect(bookings.next('busy 0', 0)).toBe(before);
    expect(bookings.next('too many 0', 0)).toBe(bookings.next('never seen', 0));
    // An account whose bookings have ended makes room.
    bookings.advance(before + 1_000_000, 1);
    expect(book(bookings, 'too many 0', before + 1_000_000)).toBe(before + 1_000_000);
  });
});

describe('the schedule of bookings over time', () => {
  it('drains', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 1000; i += 1) book(bookings, 'shop', 0);
    expect(bookings.next('shop', 0)).toBe(10_000);
    expect(bookings.advance(4000, 1)).toBe(400);
    expect(bookings.next('shop', 4000)).toBe(10_000);
    expect(bookings.total).toBe(600);
    bookings.advance(20_000, 1);
    expect(bookings.next('shop', 20_000)).toBe(20_000);
    expect(bookings.total).toBe(0);
  });

  it('drains faster when not all bookings are kept', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 4000; i += 1) book(bookings, 'shop', 0);
    bookings.advance(10_000, 4);
    expect(bookings.next('shop', 10_000)).toBe(10_000);
    // Assigned seconds stay.
    expect(bookings.total).toBe(3000);
  });

  it('is empty after a jump over all of it', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 1000; i += 1) book(bookings, `key ${String(i % 7)}`, 0);
    expect(bookings.advance(86_400_000, 1)).toBe(1000);
    expect(bookings.total).toBe(0);
    expect(bookings.next('key 1', 86_400_000)).toBe(86_400_000);
  });

  it('is stretched with the pace', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 1000; i += 1) book(bookings, 'shop', 0);
    for (let i = 0; i < 500; i += 1) book(bookings, `one ${String(i)}`, 0);
    const [shop, line] = [bookings.next('shop', 0), bookings.next('none', 0)];
    bookings.rescale(2);
    expect(bookings.next('shop', 0)).toBeCloseTo(2 * shop);
    expect(bookings.next('none', 0)).toBeCloseTo(2 * line);
    expect(bookings.total).toBe(1500);
  });

  it('starts empty after a stall', () => {
    const bookings = new Bookings();
    for (let i = 0; i < 1000; i += 1) book(bookings, `key ${String(i % 3)}`, 0);
    for (let i = 0; i < 1000; i += 1) book(bookings, `one ${String(i)}`, 0);
    bookings.clear();
    expect([bookings.total, bookings.next('key 1', 0), bookings.next('none', 0)]).toEqual([0, 0, 0]);
    expect(bookings.advance(10_000, 1)).toBe(0);
  });
});

describe('the number of bookings ahead', () => {
  it('is the length of a plain list of them', () => {
    const script = fc.array(
      fc.record({
        what: fc.constantFrom('book', 'book', 'book', 'wait'),
        key: fc.nat(5),
        ms: fc.nat(3000),
        late: fc.nat(4000),
      }),
      { maxLength: 150, size: 'max' },
    );
    fc.assert(
      fc.property(script, (steps) => {
        const bookings = new Bookings();
        let assigned: number[] = [];
        let nowMs = 0;
        for (const { what, key, ms, late } of steps) {
          if (what === 'book') {
            const name = String(key);
            const assignedMs = bookings.next(name, nowMs) + late;
            bookings.add(name, nowMs, 1 + ms / 10, assignedMs);
            assigned.push(assignedMs);
          } else {
            nowMs += ms;
            const due = bookings.advance(nowMs, 1 + key);
            const ahead = assigned.filter((at) => Math.floor(at / 1000) >= Math.floor(nowMs / 1000));
            expect(due).toBe(assigned.length - ahead.length);
            assigned = ahead;
          }
          expect(bookings.total).toBe(assigned.length);
        }
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  it('counts the bookings of the next 15 minutes in steps of 10 s', () => {
    const bookings = new Bookings();
    const none = new Array<number>(90).fill(0);
    expect(bookings.ahead()).toEqual(none);
    for (const second of [0, 1, 10, 11, 20, 21, 900, 901, 5000])
      bookings.add(`key ${String(second)}`, 0, SPACING_MS, second * 1000 + 999);
    const counts = none.slice();
    [counts[0], counts[1], counts[2], counts[89]] = [3, 2, 1, 1];
    expect(bookings.ahead()).toEqual(counts);
    bookings.advance(12_345, 1);
    // Those of the seconds 20, 21, 900, 901 and 5000 are left.
    [counts[0], counts[1], counts[2], counts[88], counts[89]] = [2, 0, 0, 2, 0];
    expect(bookings.ahead()).toEqual(counts);
    bookings.clear();
    expect(bookings.ahead()).toEqual(none);
  });

  it('counts them in the same way with bookings in more seconds than it shows', () => {
    const few = new Bookings();
    const many = new Bookings();
    for (let second = 0; second < 3000; second += 1) {
      if (second <= 900) few.add('shop', 0, SPACING_MS, second * 1000);
      many.add('shop', 0, SPACING_MS, second * 1000);
    }
    // The seconds up to 900 inclusive, of which the first step has one more.
    expect(many.ahead()).toEqual([11, ...new Array<number>(89).fill(10)]);
    expect(many.ahead()).toEqual(few.ahead());
  });
});
