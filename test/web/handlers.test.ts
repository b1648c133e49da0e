import { describe, expect, it } from 'vitest';
import { serveWeb, settled } from './apps.ts';

/** As `node-fetch` makes them: the body is a stream of node. */
class ForeignResponse {
  readonly status: number = 200;
  readonly headers: Headers = new Headers();
  readonly bodyUsed: boolean = false;
  readonly body: object = { pipe: () => undefined };
}

async function disturbed(): Promise<Response> {
  const response = new Response('read');
  await response.text();
  return response;
}

function locked(): Response {
  const response = new Response('locked');
  response.body?.getReader();
  return response;
}

describe('what a handler returns', () => {
  it.each([
    ['nothing', () => undefined, 'completed'],
    ['null', () => null, 'completed'],
    ['a string', () => 'done', 'completed'],
    ['a number', () => 200, 'completed'],
    ['a response of a polyfill', () => new ForeignResponse(), 'completed'],
    [
      'a failed response of a polyfill',
      () => Object.assign(new ForeignResponse(), { status: 503 }),
      'failed',
    ],
    // No Response can be constructed with this status.
    [
      'a switch of protocols',
      () => Object.defineProperty(new Response(), 'status', { value: 101 }),
      'completed',
    ],
    ['Response.error()', () => Response.error(), 'failed'],
    ['a response whose body was read', disturbed, 'completed'],
    ['a response whose body has another reader', locked, 'completed'],
  ])('passes untouched and frees the worker: %s', async (_what, returned, total) => {
    const value: unknown = await returned();
    const { post, snapshot } = serveWeb(() => value as Response, { standardHeaders: 'draft-8' });
    expect(await post()).toBe(value);
    expect(snapshot()).toMatchObject({ active: 0, totals: { admitted: 1, [total]: 1 } });
  });

  it('passes untouched from the handler of refusals', async () => {
    const { post } = serveWeb(() => new Response(), {
      shed: { default: true },
      onRefused: () => undefined,
      standardHeaders: 'draft-8',
    });
    expect(await post()).toBe(undefined);
  });
});

describe('a request that is aborted', () => {
  it.each(['before it arrives', 'in the queue', 'while it is handled'])('%s gets no body', async (phase) => {
    let handled = 0;
    let end = (): void => undefined;
    const { post, snapshot } = serveWeb(async () => {
      handled += 1;
      await new Promise<void>((resolve) => (end = resolve));
      return new Response(null, { status: 204 });
    });
    const gone = new AbortController();
    if (phase === 'before it arrives') gone.abort();
    const first = phase === 'in the queue' ? post() : undefined;
    const aborted = post({ signal: gone.signal });
    await settled();
    gone.abort();
    end();
    expect((await aborted).status).toBe(phase === 'while it is handled' ? 204 : 503);
    await first;
    expect(handled).toBe(phase === 'before it arrives' ? 0 : 1);
    expect(snapshot()).toMatchObject({ active: 0, depth: 0 });
  });

  it('counts nowhere, also while deliveries are shed', async () => {
    const { post, snapshot } = serveWeb(() => new Response(null, { status: 204 }), {
      shed: { default: true },
    });
    expect((await post()).status).toBe(503);
    const before = snapshot();
    expect((await post({ signal: AbortSignal.abort() })).status).toBe(503);
    expect(snapshot()).toStrictEqual(before);
  });
});
