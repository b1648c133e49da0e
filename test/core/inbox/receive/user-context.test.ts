import type { Json } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';

describe('the option context', () => {
  const deliver = async (context: () => unknown): Promise<Json> => {
    const bench = new InboxBench({ context: context as () => Json });
    await bench.deliver('a');
    return bench.last.delivery.context;
  };

  it.each([
    [undefined, null],
    [null, null],
    ['tenant', 'tenant'],
    [{ a: [1, true, null, { b: '' }], c: undefined }, { a: [1, true, null, { b: '' }] }],
    [Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
    ['x'.repeat(16_382), 'x'.repeat(16_382)],
  ])('sets the JSON that it returns: %s', async (given, expected) => {
    expect(await deliver(() => given)).toEqual(expected);
  });

  it('sets a frozen copy', async () => {
    const given = { tenant: { name: 'a' } };
    const bench = new InboxBench({
      context: () => given,
      verify: ({ context }) => {
        given.tenant.name = 'b';
        expect(() => {
          (context as typeof given).tenant.name = 'c';
        }).toThrow(TypeError);
        return true;
      },
    });
    await bench.deliver('a');
    expect(bench.last.delivery.context).toEqual({ tenant: { name: 'a' } });
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  it.each([
    ['a promise', () => Promise.resolve('tenant'), 'returned a promise'],
    ['a rejected promise', () => Promise.reject(new Error('geheim')), 'returned a promise'],
    ['a date', () => ({ at: { day: new Date(0) } }), 'at.day is an instance of Date'],
    ['a map', () => [new Map()], '[0] is an instance of Map'],
    ['NaN', () => NaN, 'the value is NaN'],
    ['a bigint', () => ({ n: 1n }), 'n is of type bigint'],
    ['a function', () => ({ f: () => 'geheim' }), 'f is of type function'],
    ['a circle', () => circle, 'is nested more than 64 levels deep or circular'],
    ['too much', () => ({ text: 'x'.repeat(16_384) }), 'at most 16,384 characters of JSON, but has 16395'],
    ['bytes', () => new Uint8Array(3), 'the value is an instance of Uint8Array'],
  ])('rejects when it returns %s', async (_, context, says) => {
    const failed = deliver(context);
    await expect(failed).rejects.toMatchObject({ code: 'ERR_WBP_CONTEXT' });
    await expect(failed).rejects.toThrow(says);
    await expect(failed).rejects.not.toThrow('geheim');
  });

  it('rejects with what it throws', async () => {
    const error = new Error('no tenant');
    const throws = (): never => {
      throw error;
    };
    await expect(deliver(throws)).rejects.toBe(error);
  });

  it('must be a function', () => {
    expect(() => new InboxBench({ context: 'tenant' as never })).toThrow('ERR_WBP_CALLBACK');
  });
});
