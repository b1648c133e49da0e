import { describe, expect, it } from 'vitest';
import { Breaker } from '../../../packages/sender/src/pace/breaker.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function breaker(random = 0.5, disableAfterMs = 5 * DAY): Breaker {
  return new Breaker({ disableAfterMs, random: () => random });
}

/** Fails until it opens. Returns the time then. */
function open(health: Breaker, fromMs = 0): number {
  let now = fromMs;
  for (let i = 0; i < 5; i += 1) {
    health.started();
    health.failed(now, 1000, now + 100);
    now += 100;
  }
  return now;
}

describe('the breaker', () => {
  it('opens after five failures in a row', () => {
    const health = breaker();
    for (let i = 0; i < 4; i += 1) health.failed(0, 0, i);
    health.answered();
    for (let i = 0; i < 4; i += 1) health.failed(0, 0, i);
    expect(health.isFailing).toBe(false);
    expect(health.probeAtMs).toBe(0);
    health.failed(0, 0, 5);
    expect(health.isFailing).toBe(true);
  });

  it('does not delay attempts before', () => {
    const health = breaker();
    health.started();
    health.abandoned(0, 10);
    expect(health.probeAtMs).toBe(0);
  });

  it('allows one probe at a time, after delays that double up to 10 min', () => {
    const health = breaker(1);
    let now = open(health);
    const delays: number[] = [];
    for (let i = 0; i < 10; i += 1) {
      delays.push(health.probeAtMs - now);
      now = health.probeAtMs;
      health.started();
      expect(health.probeAtMs).toBe(Infinity);
      health.failed(now, 0, now + 10);
      now += 10;
    }
    expect(delays.slice(0, 3)).toEqual([5000, 10_000, 20_000]);
    expect(Math.max(...delays)).toBe(600_000);
    expect(delays.at(-1)).toBe(600_000);
  });

  it('spreads probes over half of the delay', () => {
    const health = breaker(0);
    const now = open(health);
    expect(health.probeAtMs - now).toBe(2500);
  });

  it('ignores failures of requests that were in flight when it opened', () => {
    const health = breaker();
    const now = open(health);
    const { probeAtMs } = health;
    for (let i = 0; i < 20; i += 1) health.failed(now - 50, 0, now + 1000);
    expect(health.probeAtMs).toBe(probeAtMs);
    health.started();
    health.failed(now - 50, 0, probeAtMs + 10);
    expect(health.probeAtMs).toBe(Infinity);
    health.failed(probeAtMs, 0, probeAtMs + 20);
    expect(health.probeAtMs).toBeGreaterThan(probeAtMs + 20);
    expect(health.probeAtMs).toBeLessThan(Infinity);
  });

  it('counts requests that were refused together as one failure', () => {
    const health = breaker();
    for (let round = 0; round < 4; round += 1)
      for (let i = 0; i < 8; i += 1) health.refused(1000 * round + i, 0, 1000 * round + 100 + i);
    expect(health.isFailing).toBe(false);
    health.refused(4000, 0, 4100);
    expect(health.isFailing).toBe(true);
  });

  it('closes with any answer', () => {
    const health = breaker();
    open(health);
    health.started();
    health.answered();
    expect(health.isFailing).toBe(false);
    expect(health.probeAtMs).toBe(0);
  });

  it('begins with the first delay again after an answer', () => {
    const health = breaker(1);
    open(health);
    for (let i = 0; i < 4; i += 1) {
      const { probeAtMs } = health;
      health.started();
      health.failed(probeAtMs, 0, probeAtMs + 10);
    }
    health.answered();
    const now = open(health, 1_000_000);
    expect(health.probeAtMs - now).toBe(5000);
  });

  it('allows another probe immediately when one was given up by this process', () => {
    const health = breaker();
    open(health);
    const at = health.probeAtMs;
    health.abandoned(at - 1, at - 1);
    expect(health.probeAtMs).toBe(at);
    health.started();
    health.abandoned(at, at + 10);
    expect(health.probeAtMs).toBe(at + 10);
  });
});

describe('the end of an endpoint', () => {
  /** Probes that fail until `toMs`. Events are as old as the time since `sentAtMs`. */
  function fail(health: Breaker, toMs: number, sentAtMs: number): number {
    let now = open(health);
    while (now < toMs && !health.isOver) {
      now = health.probeAtMs;
      health.started();
      health.failed(now, now - sentAtMs, now + 10);
      now += 10;
    }
    return now;
  }

  it('comes after failures alone for the whole time', () => {
    const health = breaker();
    const endMs = fail(health, 10 * DAY, 0);
    expect(health.isOver).toBe(true);
    expect(endMs).toBeGreaterThanOrEqual(5 * DAY);
    expect(endMs).toBeLessThan(5 * DAY + HOUR);
  });

  it('comes earlier after a restart, if old events have failed for an hour', () => {
    const health = breaker();
    const endMs = fail(health, 10 * DAY, -6 * DAY);
    expect(endMs).toBeGreaterThanOrEqual(HOUR);
    expect(endMs).toBeLessThan(2 * HOUR);
  });

  it('does not come from the first old event', () => {
    const health = breaker();
    health.failed(10 * DAY, 6 * DAY, 10 * DAY + 10);
    expect(health.isOver).toBe(false);
  });

  it('does not come from one old event while others are answered', () => {
    const health = breaker();
    for (let now = 0; now < DAY; now += 600_000) {
      health.failed(now, 6 * DAY, now + 10);
      health.answered();
    }
    expect(health.isOver).toBe(false);
  });

  it('is counted from the last answer, not from the age of events', () => {
    const health = breaker();
    health.answered();
    const endMs = fail(health, 10 * DAY, -6 * DAY);
    expect(endMs).toBeGreaterThanOrEqual(5 * DAY);
  });

  it('does not come sooner than set', () => {
    const health = breaker(0.5, 60_000);
    const endMs = fail(health, DAY, 0);
    expect(endMs).toBeGreaterThanOrEqual(60_000);
    expect(endMs).toBeLessThan(200_000);
  });
});

it('probes again after an older request was refused during a probe', () => {
  const health = breaker();
  for (let start = 0; start < 5; start++) health.failed(start, 0, 100 + start);
  health.started();
  health.refused(50, 0, 4500);
  health.refused(4000, 0, 5000);
  expect(health.probeAtMs).toBeLessThan(60_000);
});
