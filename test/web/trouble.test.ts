import { memoryStore } from '@webhook-backpressure/core';
import { webhookInbox, withBackpressure } from '@webhook-backpressure/web';
import { afterEach, describe, expect, it, vi } from 'vitest';

const post = (): Request => new Request('http://x/', { method: 'POST', body: '{}' });

describe('the trouble of web-standard hosts', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is reported by the inbox when a body has another reader', async () => {
    const receive = webhookInbox({ store: memoryStore(), verify: false, process: () => undefined });
    const request = post();
    request.body?.getReader();
    await expect(receive(request)).rejects.toMatchObject({ code: 'ERR_WBP_BODY_READ' });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('outside a request');
      },
    ],
    ['rejects', () => Promise.reject(new Error('outside a request'))],
    [
      'throws later',
      (promise: Promise<unknown>) =>
        promise.then(() => {
          throw new Error('late');
        }),
    ],
  ])('harms no delivery and is shown once when waitUntil %s', async (_what, waitUntil) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const guarded = withBackpressure(() => new Response('done'), { waitUntil });
    // Vitest fails on an unhandled rejection.
    for (let sent = 0; sent < 2; sent += 1) expect(await (await guarded(post())).text()).toBe('done');
    await vi.waitFor(() => {
      expect(warn).toHaveBeenCalledOnce();
    });
    expect(guarded.intake.snapshot().active).toBe(0);
  });
});
