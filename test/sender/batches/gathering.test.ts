import { describe, expect, it } from 'vitest';
import { Gathering } from '../../../packages/sender/src/batches/batching.ts';

const BATCH = { maxEvents: 3, maxDelayMs: 5000, maxBytes: 1000 };

describe('gathering a batch', () => {
  it('is ready when nothing is known to gather: retries and events of others are due then', () => {
    expect(new Gathering().readyAtMs(BATCH)).toBe(0);
    expect(new Gathering().requests(BATCH, 0)).toBe(1);
  });

  it('waits for the delay from the first event', () => {
    const gathering = new Gathering();
    gathering.stored(10, 1000);
    gathering.stored(10, 4000);
    expect(gathering.readyAtMs(BATCH)).toBe(6000);
  });

  it('is ready at the number of events', () => {
    const gathering = new Gathering();
    for (let count = 0; count < 3; count += 1) gathering.stored(10, 1000);
    expect(gathering.readyAtMs(BATCH)).toBe(0);
  });

  it('is ready at the number of bytes', () => {
    const gathering = new Gathering();
    gathering.stored(1000, 1000);
    expect(gathering.readyAtMs(BATCH)).toBe(0);
  });

  it('has enough for complete batches, and for one more when the rest is old', () => {
    const gathering = new Gathering();
    for (let count = 0; count < 8; count += 1) gathering.stored(10, 1000);
    expect(gathering.requests(BATCH, 1000)).toBe(2);
    expect(gathering.requests(BATCH, 6000)).toBe(3);
  });

  it('subtracts claimed events', () => {
    const gathering = new Gathering();
    for (let count = 0; count < 5; count += 1) gathering.stored(10, 1000);
    gathering.claimed(3, 30, false, 2000);
    expect(gathering.readyAtMs(BATCH)).toBe(6000);
    gathering.claimed(1, 10, true, 2000);
    expect(gathering.readyAtMs(BATCH)).toBe(0);
    gathering.stored(10, 9000);
    expect(gathering.readyAtMs(BATCH)).toBe(14_000);
  });

  it('never counts below zero, because others are claimed as well', () => {
    const gathering = new Gathering();
    gathering.stored(10, 1000);
    gathering.claimed(5, 5000, false, 2000);
    gathering.stored(10, 3000);
    expect(gathering.readyAtMs(BATCH)).toBe(8000);
  });
});
