import { memoryStore } from '@webhook-backpressure/inbox';
import { createSender, type SenderOptions } from '@webhook-backpressure/sender';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const SECRET = 'secret-in-a-message';
const kinds: [string, string, Partial<SenderOptions>, RegExp][] = [
  [
    'a dead letter',
    'WBP_EVENT_DEAD',
    { fetch: () => Promise.resolve(new Response(SECRET, { status: 404 })) },
    /dead-letter queue\. The answer was HTTP 404\. .*logEvents\(sender, console, \{ errors: true \}\)/,
  ],
  [
    'an endpoint function that throws',
    'WBP_ENDPOINT_FAILED',
    { endpoint: () => Promise.reject(new Error(SECRET)) },
    /endpoint\(\) failed, or returned invalid settings\. /,
  ],
  [
    'invalid settings',
    'WBP_ENDPOINT_FAILED',
    { endpoint: () => ({ url: `ftp://${SECRET}/`, secret: null }) },
    /invalid settings: url must .*ERR_WBP_ENDPOINT_URL/,
  ],
  [
    'a store that fails',
    'WBP_STORE_FAILED',
    { store: Object.assign(memoryStore(), { put: () => Promise.reject(new Error(SECRET)) }) },
    /call put\(\) of the store failed\. /,
  ],
];

describe('a sender without listeners', () => {
  let warned: string[];

  beforeEach(() => {
    warned = [];
    vi.spyOn(process, 'emitWarning').mockImplementation((message: unknown, options: unknown) => {
      warned.push(`${(options as { code: string }).code}: ${String(message)}`);
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const run = async (options: Partial<SenderOptions>, listens: boolean): Promise<void> => {
    const sender = createSender({
      store: memoryStore(),
      endpoint: () => ({ url: 'https://a.example/', secret: null }),
      ...options,
    });
    if (listens) sender.subscribe(() => undefined);
    for (const data of [1, 2, 3]) {
      await sender.send({ endpoint: 'a', type: 'test', data }).catch(() => undefined);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await sender.close({ timeoutMs: 0 });
  };

  it.each(kinds)('warns once, without a secret, of %s', async (_, code, options, says) => {
    await run(options, false);
    expect(warned).toEqual([expect.stringMatching(says)]);
    expect(warned[0]).toMatch(new RegExp(`^${code}: `));
    expect(warned.join()).not.toContain(SECRET);
  });

  it.each(kinds)('does not warn while it has a listener: %s', async (_, _code, options) => {
    await run(options, true);
    expect(warned).toEqual([]);
  });
});
