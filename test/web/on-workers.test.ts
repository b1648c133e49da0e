import { type Inbox, memoryStore } from '@webhook-backpressure/inbox';
import { manualClock } from '@webhook-backpressure/core/testing';
import { webhookInbox as honoInbox } from '@webhook-backpressure/hono/inbox';
import { webhookInbox } from '@webhook-backpressure/web/inbox';
import { Hono } from 'hono';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { onWebStandards, settled, streamed } from './apps.ts';

interface Receiving {
  readonly inbox: Inbox;
  readonly fetch: (request: Request, ...rest: unknown[]) => Response | Promise<Response>;
}

const onWeb = (webhooks: ReturnType<typeof webhookInbox>): Receiving => ({
  inbox: webhooks.inbox,
  fetch: webhooks,
});

function onHono(webhooks: ReturnType<typeof honoInbox>): Receiving {
  const app = new Hono().post('/', webhooks);
  return {
    inbox: webhooks.inbox,
    fetch: (request, ...rest) => app.fetch(request, ...(rest as [object, never])),
  };
}

describe.each(onWebStandards)('$name on Workers', ({ name, serve }) => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  /** The execution context of a request, and the promises passed to its `waitUntil`. */
  function context(): { stays: Promise<unknown>[]; rest: unknown[] } {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const stays: Promise<unknown>[] = [];
    const executionContext = {
      waitUntil: (stay: Promise<unknown>) => void stays.push(stay),
      passThroughOnException: () => undefined,
    };
    return { stays, rest: [{}, executionContext] };
  }
  const isSettled = async (stay: Promise<unknown> | undefined): Promise<boolean> =>
    Promise.race([stay?.then(() => true), settled().then(() => false)]) as Promise<boolean>;

  it('keeps the request alive until the permit is released', async () => {
    const { stays, rest } = context();
    const { handler, out } = streamed();
    const { post } = serve(handler);
    const reading = (await post({}, ...rest)).text();
    expect(await isSettled(stays[0])).toBe(false);
    await out.close();
    await reading;
    expect(await isSettled(stays[0])).toBe(true);
  });

  it('runs a timer while a delivery waits, and stops it and lets the request end after a refusal', async () => {
    const { stays, rest } = context();
    const { post, clock } = serve(() => new Promise<Response>(() => undefined), { maxWaitMs: 1000 });
    const set = vi.spyOn(globalThis, 'setInterval');
    const clear = vi.spyOn(globalThis, 'clearInterval');
    void post({}, ...rest);
    expect(set).not.toHaveBeenCalled();
    const waiting = post({}, ...rest);
    expect(set).toHaveBeenCalledOnce();
    clock.advance(1100);
    expect((await waiting).status).toBe(503);
    expect(clear).toHaveBeenCalledWith(set.mock.results[0]?.value);
    expect(await isSettled(stays[1])).toBe(true);
    expect(await isSettled(stays[0])).toBe(false);
    set.mockRestore();
    clear.mockRestore();
  });

  it.each([
    ['is drained', false],
    ['has closed with deliveries left', true],
  ])('keeps an acknowledged request alive until the inbox %s', async (_when, closes) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { stays, rest } = context();
    let end = (): void => undefined;
    const clock = manualClock();
    const options = {
      store: memoryStore(),
      verify: false,
      clock,
      process: () => new Promise<void>((resolve) => (end = resolve)),
    } as const;
    const { inbox, fetch } = name.startsWith('Hono')
      ? onHono(honoInbox(options))
      : onWeb(webhookInbox(options));
    const request = new Request('http://x/', { method: 'POST', body: '{}' });
    const nextEvent = async (expected: string): Promise<void> =>
      new Promise((resolve) => {
        inbox.subscribe(({ type }) => {
          if (type === expected) resolve();
        });
      });
    const begun = nextEvent('started');
    expect((await fetch(request, ...rest)).status).toBe(200);
    await begun;
    vi.advanceTimersByTime(5000);
    expect(await isSettled(stays[0])).toBe(false);
    const finished = nextEvent(closes ? 'closed' : 'completed');
    if (closes) void inbox.close({ timeoutMs: 1 });
    else end();
    clock.advance(1);
    await finished;
    await settled();
    vi.advanceTimersByTime(5000);
    expect(await isSettled(stays[0])).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('works without an execution context', async () => {
    context();
    const { post, snapshot } = serve(() => new Response('done'));
    expect(await (await post()).text()).toBe('done');
    expect(snapshot().totals.completed).toBe(1);
  });
});
