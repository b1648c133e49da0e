import { BackpressureError, errorMessageOf, readableErrors, thrownText } from '@webhook-backpressure/base';
import { describe, expect, it } from 'vitest';
import { thrownValues } from '../../thrown-values.ts';

describe.each(thrownValues)('%s', (_name, value) => {
  it('has a text of bounded length', () => {
    for (const text of [errorMessageOf(value()), thrownText(value())]) {
      expect(typeof text).toBe('string');
      expect(text.length).toBeLessThan(5000);
    }
    expect(value() instanceof BackpressureError).toBe(false);
  });

  it('is thrown by a callback as an error that can be read, with the value as its cause', async () => {
    const thrown = value();
    const throwIt = (): never => {
      throw thrown;
    };
    const isWrapped = (error: unknown): boolean => error instanceof Error && Object.is(error.cause, thrown);
    try {
      readableErrors(throwIt)();
    } catch (error) {
      expect(isWrapped(error)).toBe(true);
    }
    // eslint-disable-next-line @typescript-eslint/require-await -- it rejects
    const rejection = await readableErrors(async () => throwIt())().catch((error: unknown) => error);
    expect(isWrapped(rejection)).toBe(true);
  });
});

it.each([Object.assign(new TypeError('no'), { status: 400 }), { status: 400, message: 'no' }])(
  'an error of a framework is thrown unchanged',
  async (error) => {
    await expect(readableErrors(() => Promise.reject(error as Error))()).rejects.toBe(error);
  },
);
