import fc from 'fast-check';
import { type BucketLimit, TokenLevel } from '@webhook-backpressure/fleet';
import { describe, expect, it } from 'vitest';

/** A bucket in rational arithmetic: exact, slow, and written from the definition. Times in microseconds. */
class Oracle {
  /** Tokens × the denominator. */
  #tokens: bigint;
  #denominator = 1n;
  #atUs: bigint;
  #limit: BucketLimit;

  constructor(limit: BucketLimit, nowUs: number) {
    this.#limit = limit;
    this.#tokens = BigInt(limit.burst);
    this.#atUs = BigInt(nowUs);
  }

  get tokens(): number {
    return Number(this.#tokens / this.#denominator);
  }

  pass(nowUs: number): void {
    const elapsed = BigInt(nowUs) - this.#atUs;
    this.#atUs = BigInt(nowUs);
    if (elapsed > 0n) this.#add(elapsed * BigInt(this.#limit.amount), BigInt(this.#limit.periodMs) * 1000n);
  }

  set(limit: BucketLimit): void {
    this.#limit = limit;
    this.#add(0n, 1n);
  }

  /** A negative count takes. */
  put(count: number): void {
    this.#add(BigInt(count), 1n);
  }

  #add(numerator: bigint, denominator: bigint): void {
    this.#tokens = this.#tokens * denominator + numerator * this.#denominator;
    this.#denominator *= denominator;
    const full = BigInt(this.#limit.burst) * this.#denominator;
    if (this.#tokens > full) this.#tokens = full;
    let [a, b] = [this.#tokens, this.#denominator];
    while (b > 0n) [a, b] = [b, a % b];
    this.#tokens /= a;
    this.#denominator /= a;
  }
}

const HOUR_MS = 3_600_000;

/** From one an hour to 10,000 a second. */
const limits: fc.Arbitrary<BucketLimit> = fc.record({
  amount: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 10_000 })),
  periodMs: fc.constantFrom(1000, 1007, 60_000, HOUR_MS),
  burst: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100_000 })),
});

describe('TokenLevel', () => {
  it('begins at the time and with the tokens that it is given', () => {
    const level = new TokenLevel({ amount: 1, periodMs: 1000, burst: 5 }, 7000, 2);
    expect(level.tokens(7000)).toBe(2);
    expect(level.waitMs(2, 7000)).toBe(0);
    expect(level.waitMs(1, 7000)).toBe(0);
  });

  it('takes back no more tokens than are returned', () => {
    const level = new TokenLevel({ amount: 1, periodMs: 1000, burst: 5 }, 0, 0);
    level.giveBack(2);
    expect(level.tokens(0)).toBe(2);
  });

  it('keeps no more than the burst when too many tokens are returned', () => {
    const level = new TokenLevel({ amount: 1, periodMs: 1000, burst: 5 }, 0, 4);
    level.giveBack(3);
    expect(level.tokens(0)).toBe(5);
  });

  it('saves fewer tokens than the burst if that many are no safe integer', () => {
    expect(new TokenLevel({ amount: 1, periodMs: 86_400_000, burst: 1_000_000 }, 0).size).toBe(104_249);
  });

  it('keeps no part of a token above the burst when a microsecond fills it with more than is missing', () => {
    const level = new TokenLevel({ amount: 3, periodMs: 1, burst: 5 }, 0);
    expect(level.take(1, 0)).toBe(1);
    // 334 µs bring 1,002 thousandths of a token.
    expect(level.take(5, 0.334)).toBe(5);
    expect(level.tokens(0.334 + 0.333)).toBe(0);
    expect(level.tokens(0.334 + 0.334)).toBe(1);
  });

  it('gives neither a token more nor less than burst + rate × time over 30 days', () => {
    fc.assert(
      fc.property(
        limits,
        fc.array(
          fc.record({
            pauseUs: fc.oneof(
              fc.integer({ min: 0, max: 5_000 }),
              fc.integer({ min: 0, max: 10_000_000 }),
              fc.integer({ min: 0, max: 2 * 24 * HOUR_MS * 1000 }),
              // The clock was set back.
              fc.integer({ min: -24 * HOUR_MS * 1000, max: 0 }),
            ),
            count: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 200_000 })),
          }),
          { maxLength: 60 },
        ),
        (limit, steps) => {
          let nowUs = 7_000_000_123;
          const level = new TokenLevel(limit, nowUs / 1000);
          const oracle = new Oracle(limit, nowUs);
          for (const { pauseUs, count } of steps) {
            nowUs += pauseUs;
            oracle.pass(nowUs);
            const due = Math.min(count, oracle.tokens);
            expect(level.take(count, nowUs / 1000)).toBe(due);
            oracle.put(-due);
          }
        },
      ),
      { seed: 1, numRuns: 300 },
    );
  });
});
