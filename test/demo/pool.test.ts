import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionPool } from '../../demo/src/pool.ts';

const options = { max: 2, connectionTimeoutMs: 1000, queryFromMs: 40, queryToMs: 60 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the pool of the demo', () => {
  it('gives its connections to those who wait, first come first served', async () => {
    const pool = new ConnectionPool(options);
    const [first, second] = await Promise.all([pool.connect(), pool.connect()]);
    const order: string[] = [];
    void pool.connect().then(() => order.push('third'));
    void pool.connect().then(() => order.push('fourth'));
    expect(pool.waiting).toBe(2);

    first.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['third']);
    second.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(['third', 'fourth']);
    expect([pool.waiting, pool.deepest]).toEqual([0, 2]);
  });

  it('has no more connections after a release than before', async () => {
    const pool = new ConnectionPool(options);
    const connections = await Promise.all([pool.connect(), pool.connect()]);
    for (const connection of connections) connection.release();
    await Promise.all([pool.connect(), pool.connect()]);
    void pool.connect().catch(() => undefined);
    expect(pool.waiting).toBe(1);
  });

  it('rejects who has waited too long, and passes over him afterwards', async () => {
    const pool = new ConnectionPool(options);
    const [first] = await Promise.all([pool.connect(), pool.connect()]);
    const impatient = pool.connect();
    const rejected = expect(impatient).rejects.toThrow('timeout exceeded');
    await vi.advanceTimersByTimeAsync(999);
    expect(pool.waiting).toBe(1);
    const patient = pool.connect();
    await vi.advanceTimersByTimeAsync(1);
    await rejected;

    first.release();
    await patient;
    await vi.advanceTimersByTimeAsync(5000);
    expect(pool.waiting).toBe(0);
  });
});
