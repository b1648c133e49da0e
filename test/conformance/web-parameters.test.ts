import { withBackpressure } from '@webhook-backpressure/web';
import { expect, it } from 'vitest';

// Deno.serve passes only as many arguments as the function declares.
it('declares the parameters of its handler, and at least the request', () => {
  const respond = (): Response => new Response();
  const handlers = [respond, (_: Request) => respond(), (_: Request, _info: never) => respond()];
  expect(handlers.map((handler) => withBackpressure(handler).length)).toEqual([1, 1, 2]);
});
