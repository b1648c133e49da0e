import { backpressureOf, createIntake, withBackpressure } from '@webhook-backpressure/web';
import { describe, expect, it, vi } from 'vitest';

const request = (): Request => new Request('http://x/webhooks', { method: 'POST', body: '{}' });
const noContent = (): Response => new Response(null, { status: 204 });

describe('a handler inside another', () => {
  it('finds its delivery also when the framework has replaced the request', async () => {
    let key: string | undefined;
    const handler = withBackpressure(
      () => {
        key = backpressureOf(request())?.key;
        return noContent();
      },
      { keyGenerator: () => 'shop' },
    );
    await handler(request());
    expect(key).toBe('shop');
  });

  it('is admitted once by each intake, also by an outer one again', async () => {
    const [outer, inner] = [createIntake({ concurrency: 1 }), createIntake({ concurrency: 1 })];
    const again = withBackpressure(noContent, { intake: outer });
    const middle = withBackpressure(() => again(request()), { intake: inner });
    const handler = withBackpressure(() => middle(request()), { intake: outer });
    expect((await handler(request())).status).toBe(204);
    const totals = [outer, inner].map((intake) => intake.snapshot().totals);
    expect(totals).toEqual([
      expect.objectContaining({ admitted: 1, completed: 1 }),
      expect.objectContaining({ admitted: 1, completed: 1 }),
    ]);
  });

  it('is admitted again after its first permit is released', async () => {
    const intake = createIntake({ concurrency: 1 });
    const once = withBackpressure(noContent, { intake });
    let later: Promise<Response> | undefined;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const handler = withBackpressure(
      () => {
        later = begun.then(() => once(request()));
        return noContent();
      },
      { intake },
    );
    await handler(request());
    expect(intake.snapshot()).toMatchObject({ active: 0, totals: { completed: 1 } });
    begin();
    expect((await later)?.status).toBe(204);
    expect(intake.snapshot().totals).toMatchObject({ admitted: 2, completed: 2 });
  });
});

describe('the permit of a delivery', () => {
  it('is released when nothing can be noted on the request', async () => {
    const handler = withBackpressure(noContent, { concurrency: 1 });
    await expect(handler(Object.freeze(request()))).rejects.toThrow(TypeError);
    expect(handler.intake.snapshot().active).toBe(0);
  });

  it.each([null, undefined])('is released of requests whose signal is %s, queued or read', async (signal) => {
    const handler = withBackpressure(
      async (source: { request: Request }) => {
        expect(backpressureOf(source)?.signal.aborted).toBe(false);
        await Promise.resolve();
        return new Response('body');
      },
      { concurrency: 1 },
    );
    const send = (): Promise<Response> =>
      handler({ request: Object.defineProperty(request(), 'signal', { value: signal }) });
    expect((await Promise.all([send(), send()])).map(({ status }) => status)).toEqual([200, 200]);
    expect(handler.intake.snapshot()).toMatchObject({ active: 0, depth: 0, totals: { completed: 2 } });
  });

  it('is held and released where no class of requests is global', async () => {
    const handler = withBackpressure(noContent);
    const given = request();
    vi.stubGlobal('Request', undefined);
    const { status } = await handler(given).finally(() => vi.unstubAllGlobals());
    expect(status).toBe(204);
  });

  it('is waited for also where a library has replaced the global Promise', async () => {
    let end = (): void => undefined;
    const isFree = new Promise<void>((resolve) => (end = resolve));
    const handler = withBackpressure(() => isFree.then(noContent), { concurrency: 1 });
    const first = handler(request());
    vi.stubGlobal('Promise', class extends Promise<unknown> {});
    const second = handler(request());
    vi.unstubAllGlobals();
    end();
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([204, 204]);
  });

  it.each([
    ['adds none', false],
    ['adds one where the handler reads its own signal', true],
  ])('leaves no listener on the signal of its request, and %s', async (_which, reads) => {
    const { signal } = new AbortController();
    const listeners = new Set<unknown>();
    signal.addEventListener = (_type: string, listener: unknown) => void listeners.add(listener);
    signal.removeEventListener = (_type: string, listener: unknown) => void listeners.delete(listener);
    let during = 0;
    const handler = withBackpressure((source: { request: Request }) => {
      if (reads) expect(backpressureOf(source)?.signal.aborted).toBe(false);
      during = listeners.size;
      return noContent();
    });
    await handler({ request: Object.defineProperty(request(), 'signal', { value: signal }) });
    expect([during, listeners.size]).toEqual([reads ? 1 : 0, 0]);
  });
});
