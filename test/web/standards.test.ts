import { afterEach, describe, expect, it, vi } from 'vitest';
import { onWebStandards, settled, streamed } from './apps.ts';

// Without a server: a signal reports that the sender disconnects, and a stream that the response ends.
describe.each(onWebStandards)('$name with web standards only', ({ serve }) => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const text = new TextEncoder();

  it('releases the permit of a response without a body', async () => {
    const { post, snapshot } = serve(() => new Response(null, { status: 204 }));
    await post();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('releases the permit of a response in memory even if it is not read', async () => {
    const { post, snapshot } = serve(() => new Response('done'));
    const response = await post();
    await settled();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
    expect(await response.text()).toBe('done');
  });

  it('holds the permit until a streamed body has ended', async () => {
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const reading = (await post()).text();
    for (const word of ['a', 'b', 'c', 'd']) await out.write(text.encode(word));
    expect(snapshot().active).toBe(1);
    await out.close();
    expect(await reading).toBe('abcd');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1, failed: 0 } });
  });

  it.each([1, 4])(
    'releases the permit of a streamed body that nothing reads for 5 seconds, after %i chunks',
    async (count) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      const { handler, out } = streamed();
      const { post, snapshot } = serve(handler);
      // A middleware may drop the response.
      await post();
      for (let chunk = 0; chunk < count; chunk += 1) void out.write(text.encode('a'));
      await settled();
      expect(snapshot().active).toBe(1);
      vi.advanceTimersByTime(5100);
      expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
    },
  );

  it('holds the permit while the source of a body that is read sends nothing for 5 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const reading = (await post()).text();
    void out.write(text.encode('a'));
    await settled();
    vi.advanceTimersByTime(5100);
    expect(snapshot().active).toBe(1);
    await out.close();
    expect(await reading).toBe('a');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('releases the permit as a failure when a streamed body is canceled', async () => {
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const response = await post();
    out.closed.catch(() => undefined);
    await response.body?.cancel();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it('releases the permit as a failure when a streamed body fails', async () => {
    const { handler, out } = streamed();
    const { post, snapshot } = serve(handler);
    const response = await post();
    const reading = response.text();
    await out.abort(new Error('source failed'));
    await expect(reading).rejects.toThrow('source failed');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it.each([
    ['an error', new Error('handler failed')],
    ['a string', 'handler failed'],
  ])('releases the permit as a failure when a handler throws %s', async (_what, thrown) => {
    const { post, snapshot } = serve(() => {
      AbortSignal.abort(thrown).throwIfAborted();
      return new Response('done');
    });
    await post().catch(() => undefined);
    await settled();
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 0, failed: 1 } });
  });

  it('removes a disconnected sender from the queue, and holds its permit while its handler runs', async () => {
    let end = (_response: Response): void => undefined;
    const handled = vi.fn(() => new Promise<Response>((resolve) => (end = resolve)));
    const { post, snapshot } = serve(handled);
    const [first, second] = [new AbortController(), new AbortController()];
    void post({ signal: first.signal });
    const waiting = post({ signal: second.signal });
    await settled();
    expect(snapshot()).toMatchObject({ active: 1, depth: 1 });
    second.abort();
    expect(snapshot()).toMatchObject({ active: 1, depth: 0, totals: { withdrawn: { abandoned: 1 } } });
    await waiting;
    first.abort();
    expect(snapshot()).toMatchObject({ active: 1, totals: { failed: 0 } });
    end(new Response('late'));
    await settled();
    expect(snapshot()).toMatchObject({ active: 0, totals: { failed: 1 } });
    expect(handled).toHaveBeenCalledOnce();
  });

  it.each([
    ['text', (): Response => new Response('done'), 4],
    ['JSON', (): Response => Response.json({ a: 1 }), 7],
    ['a response without a body', (): Response => new Response(null, { status: 204 }), 0],
  ])(
    'keeps %s in memory in one chunk, so that the runtime sets Content-Length',
    async (_what, handler, length) => {
      const { post } = serve(handler);
      const response = await post();
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body ?? []) chunks.push(chunk);
      expect(chunks.map((chunk) => chunk.byteLength)).toEqual(length === 0 ? [] : [length]);
    },
  );

  it('releases the permit of a response to HEAD, whose body is never read', async () => {
    const { handler } = streamed();
    const { post, snapshot } = serve(handler, { skip: () => false });
    await post({ method: 'HEAD' });
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });

  it('does not admit a request whose sender has disconnected', async () => {
    const { post, snapshot } = serve(() => new Response('done'));
    const gone = new AbortController();
    gone.abort();
    await post({ signal: gone.signal });
    expect(snapshot().totals.admitted).toBe(0);
  });

  it('adds rate-limit headers to a fetched response, whose headers are immutable', async () => {
    const { post, snapshot } = serve(() => fetch('data:text/html,fetched'), { standardHeaders: 'draft-8' });
    const response = await post();
    expect(response.headers.get('ratelimit-policy')).toBe('"queue";q=800');
    expect(response.headers.get('content-type')).toBe('text/html');
    expect(await response.text()).toBe('fetched');
    expect(snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
  });
});
