import { describe, expect, it } from 'vitest';
import { fetchRequester } from '../../../packages/sender/src/requests/fetch-requester.ts';
import { thrownValues } from '../../thrown-values.ts';
import { request, textOf } from './requester-bed.ts';

type Fetch = typeof globalThis.fetch;

const send = (
  fetch: unknown,
  signal = new AbortController().signal,
): ReturnType<ReturnType<typeof fetchRequester>['send']> =>
  fetchRequester(fetch as Fetch, { allowPrivateAddresses: true }).send(request(80, { signal }));

describe('a fetch of the user', () => {
  it('gets the request', async () => {
    const calls: unknown[][] = [];
    const answer = await send((...args: unknown[]) => {
      calls.push(args);
      return Promise.resolve(new Response('ok', { status: 202, headers: { 'Retry-After': '3' } }));
    });
    expect(answer.status).toBe(202);
    expect(answer.header('retry-after')).toBe('3');
    expect(textOf(answer)).toBe('ok');
    expect(calls).toMatchObject([
      [
        new URL('http://127.0.0.1:80/hooks?a=1'),
        { method: 'POST', redirect: 'manual', headers: { 'content-type': 'application/json' } },
      ],
    ]);
  });

  it('is not called for a private address that is not allowed', async () => {
    let calls = 0;
    const guarded = fetchRequester(
      () => {
        calls++;
        return Promise.resolve(new Response());
      },
      { allowPrivateAddresses: false },
    );
    for (const host of ['127.0.0.1', '2130706433', 'localhost', '[::1]', '169.254.169.254']) {
      const sending = guarded.send(request(80, { url: new URL(`https://${host}/`) }));
      await expect(sending).rejects.toMatchObject({ kind: 'address' });
    }
    expect(calls).toBe(0);
    expect((await guarded.send(request(80, { url: new URL('https://example.com/') }))).status).toBe(200);
    await guarded.close();
  });

  it.each([
    ['returns nothing', () => undefined],
    ['resolves to nothing', () => Promise.resolve(undefined)],
    ['resolves to a string', () => Promise.resolve('200')],
    ['resolves to an object without headers', () => Promise.resolve({ status: 200 })],
    [
      'resolves to a status that is no number',
      () => Promise.resolve({ status: '200', headers: new Headers() }),
    ],
    [
      'resolves to an opaque redirect',
      () => Promise.resolve({ type: 'opaqueredirect', status: 0, headers: new Headers() }),
    ],
  ])('that %s is an invalid answer', async (_, fetch) => {
    await expect(send(fetch)).rejects.toMatchObject({ name: 'RequestFailure', kind: 'invalid' });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('fetch failed', { cause: new Error('broken') }))],
    ['rejects with a list', () => Promise.reject(new AggregateError([new Error('broken')], ''))],
  ])('that %s has failed', async (_, fetch) => {
    await expect(send(fetch)).rejects.toMatchObject({
      kind: 'connection',
      message: 'The connection failed: broken',
    });
  });

  it('that rejects with an error of OpenSSL has failed for its reason, in one line', async () => {
    const message = '80BC:error:0A000460:SSL routines:ssl3_read_bytes:tlsv1 alert:rec_layer_s3.c:1601:\n';
    const error = Object.assign(new Error(message), { code: 'ERR_SSL_ALERT', reason: 'tlsv1 alert' });
    await expect(send(() => Promise.reject(error))).rejects.toMatchObject({
      message: 'The connection failed: ERR_SSL_ALERT, tlsv1 alert',
    });
  });

  it.each([undefined, null, 'broken', 7, {}])('that rejects with %j has failed', async (reason) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what is tested
    await expect(send(() => Promise.reject(reason))).rejects.toMatchObject({ kind: 'connection' });
  });

  it('ends at the timeout although it ignores its signal', async () => {
    const controller = new AbortController();
    const sending = send(() => {
      controller.abort();
      return new Promise(() => undefined);
    }, controller.signal);
    await expect(sending).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('keeps the status of an answer whose body never ends, fails or is no stream', async () => {
    const controller = new AbortController();
    const pull = (): void => {
      controller.abort();
    };
    const endless = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    expect(
      (await send(() => Promise.resolve(new Response(endless, { status: 503 })), controller.signal)).status,
    ).toBe(503);
    const failing = new ReadableStream<Uint8Array>({
      pull: () => {
        throw new Error('broken');
      },
    });
    expect((await send(() => Promise.resolve(new Response(failing, { status: 503 })))).status).toBe(503);
    const odd = { status: 503, headers: new Headers(), body: 'text' };
    expect((await send(() => Promise.resolve(odd))).status).toBe(503);
  });
});

it.each(thrownValues)('fails as a connection when fetch throws %s', async (_name, value) => {
  await expect(send(() => Promise.reject(value() as Error))).rejects.toMatchObject({ kind: 'connection' });
});
