import { withBackpressure, type RequestListener } from '@webhook-backpressure/node';
import { expect, it } from 'vitest';

it.each([
  ['nothing', undefined, 'undefined'],
  ['its options alone', { concurrency: 10 }, '{ concurrency: 10 }'],
])('withBackpressure throws immediately when it gets %s instead of a listener', (_, given, shown) => {
  expect(() => withBackpressure(given as unknown as RequestListener)).toThrow(
    expect.objectContaining({
      code: 'ERR_WBP_CALLBACK',
      message: expect.stringContaining(
        `must be a request listener (a function), but was ${shown}.`,
      ) as string,
    }) as Error,
  );
});
