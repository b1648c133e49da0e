import { type KeyFetch, verifiers } from '@webhook-backpressure/inbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { standardHeaders, WHPK } from './cases/key-rows.ts';
import { BODY, NOW, type Sent } from './cases/signed.ts';
import { statusOf } from './signed-deliveries.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const JWKS_URL = 'https://sender.example/.well-known/jwks.json';
const MINUTE_MS = 60_000;

/** The public key as a JSON Web Key. */
function jwkOf(whpk: string): object {
  return { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(whpk.slice(5), 'base64').toString('base64url') };
}

/** A server with keys and an answer that the test may change. */
class KeyServer {
  keys: object[];
  answer = (): Promise<Response> => Promise.resolve(Response.json({ keys: this.keys }));
  readonly fetch = vi.fn<KeyFetch>(() => this.answer());

  constructor(keys: object[]) {
    this.keys = keys;
  }
}

function jwksBench(keys = [jwkOf(WHPK[0])]) {
  const server = new KeyServer(keys);
  const time = { now: NOW };
  const jwks = { url: JWKS_URL, fetch: server.fetch };
  const verify = verifiers.standardWebhooks({ jwks, wallClock: () => time.now });
  const sentBy = (whpk: string): Sent => ({ body: BODY, headers: standardHeaders(whpk, time.now) });
  return { server, time, verify, sentBy };
}

describe('Standard Webhooks with the URL of a key set', () => {
  it('accepts a signature of any key of the set, and fetches it once', async () => {
    const { server, verify, sentBy } = jwksBench([
      { kty: 'RSA', n: 'AA', e: 'AQAB' },
      { ...jwkOf(WHPK[0]), use: 'sig', kid: 'a' },
      { kty: 'OKP', crv: 'Ed25519', x: 'AA' },
      jwkOf(WHPK[1]),
    ]);
    for (const whpk of WHPK) expect(await statusOf(verify, sentBy(whpk))).toBe(200);
    expect(server.fetch).toHaveBeenCalledTimes(1);
  });

  it('fetches the set again for a signature of an unknown key, at most once a minute', async () => {
    const { server, time, verify, sentBy } = jwksBench();
    expect(await statusOf(verify, sentBy(WHPK[1]))).toBe(401);
    server.keys = [jwkOf(WHPK[1])];
    for (let at = 0; at < 20; at += 1) expect(await statusOf(verify, sentBy(WHPK[1]))).toBe(401);
    expect(server.fetch).toHaveBeenCalledTimes(1);
    time.now += MINUTE_MS;
    expect(await statusOf(verify, sentBy(WHPK[1]))).toBe(200);
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(401);
    expect(server.fetch).toHaveBeenCalledTimes(2);
  });

  it('fetches at most once a minute however many forged requests arrive', async () => {
    const { server, time, verify, sentBy } = jwksBench();
    for (let second = 0; second < 180; second += 1) {
      expect(await statusOf(verify, sentBy(WHPK[1]))).toBe(401);
      time.now += 1000;
    }
    expect(server.fetch).toHaveBeenCalledTimes(3);
  });

  it('withdraws a key after an hour, but keeps the keys while the server is down', async () => {
    const { server, time, verify, sentBy } = jwksBench();
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
    server.answer = () => Promise.reject(new Error('connection refused'));
    time.now += 60 * MINUTE_MS;
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
    server.answer = () => Promise.resolve(Response.json({ keys: [jwkOf(WHPK[1])] }));
    time.now += MINUTE_MS;
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(401);
  });

  it('asks for a retry until the set has been fetched, with at most four attempts and then one a second', async () => {
    const { server, time, verify, sentBy } = jwksBench();
    const working = server.answer;
    server.answer = () => Promise.reject(new Error('connection refused'));
    for (let at = 0; at < 10; at += 1) expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(503);
    expect(server.fetch).toHaveBeenCalledTimes(4);
    server.answer = working;
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(503);
    time.now += 1000;
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
  });

  it('trusts keys that cannot be fetched again for a day, and withdrawn ones not at all', async () => {
    for (const { after, status, expected } of [
      { after: 1439, status: 500, expected: 200 },
      { after: 1440, status: 500, expected: 503 },
      { after: 60, status: 404, expected: 503 },
      { after: 60, status: 410, expected: 503 },
    ]) {
      const { server, time, verify, sentBy } = jwksBench();
      expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
      server.answer = () => Promise.resolve(new Response('', { status }));
      time.now += after * MINUTE_MS;
      for (let at = 0; at < 6; at += 1) expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(expected);
    }
  });

  it('fetches again after the clock was set back', async () => {
    const { time, verify, sentBy } = jwksBench();
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
    time.now -= 100 * MINUTE_MS;
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
  });

  it.each([
    Response.json({ keys: [] }),
    Response.json({}),
    Response.json({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AA' }] }),
    new Response('<html>'),
    new Response(null, { status: 302, headers: { location: 'https://evil.example' } }),
  ])('asks for a retry if the answer is no key set', async (response) => {
    const { server, verify, sentBy } = jwksBench();
    server.answer = () => Promise.resolve(response.clone());
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(503);
  });

  it('reads at most 65,536 bytes of an endless answer', async () => {
    const { server, verify, sentBy } = jwksBench();
    let chunks = 0;
    const cancelled = vi.fn();
    server.answer = () => {
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        chunks += 1;
        controller.enqueue(new Uint8Array(16_384));
      };
      return Promise.resolve(new Response(new ReadableStream({ pull, cancel: cancelled })));
    };
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(503);
    expect(chunks).toBeLessThan(8);
    expect(cancelled).toHaveBeenCalled();
  });

  it('asks for a retry when a function that ignores its signal takes longer than five seconds', async () => {
    const controller = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(controller.signal);
    const { server, verify, sentBy } = jwksBench();
    server.answer = () => new Promise(() => undefined);
    const status = statusOf(verify, sentBy(WHPK[0]));
    await vi.waitFor(() => {
      expect(server.fetch).toHaveBeenCalled();
    });
    controller.abort();
    expect(await status).toBe(503);
    expect(timeout).toHaveBeenCalledWith(5000);
  });

  it('verifies with the old keys while a forged signature lets them be fetched again', async () => {
    const { server, time, verify, sentBy } = jwksBench();
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
    const controller = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(controller.signal);
    server.answer = () => new Promise(() => undefined);
    time.now += MINUTE_MS;
    const forged = statusOf(verify, sentBy(WHPK[1]));
    await vi.waitFor(() => {
      expect(server.fetch).toHaveBeenCalledTimes(2);
    });
    expect(await statusOf(verify, sentBy(WHPK[0]))).toBe(200);
    controller.abort();
    expect(await forged).toBe(401);
  });

  it.each([
    [{ url: 'http://sender.example/jwks', fetch }, /jwks.url must be an https URL/],
    [{ url: 7, fetch }, /jwks.url must be an https URL/],
    [{ url: 'https://user@sender.example/', fetch }, /jwks.url must be an https URL/],
    [{ url: 'https://evil.example\\@sender.example/', fetch }, /jwks.url must be an https URL/],
    [{ url: `${JWKS_URL} x`, fetch }, /jwks.url must be an https URL/],
    [{ url: JWKS_URL }, /jwks.fetch must be a function/],
    [{ url: JWKS_URL, fetch, ttl: 1 }, /ERR_WBP_UNKNOWN_OPTION/],
  ])('refuses the option %s', (jwks, message) => {
    expect(() => verifiers.standardWebhooks({ jwks: jwks as never })).toThrow(message);
  });

  it('refuses a secret beside a key', () => {
    expect(() => verifiers.standardWebhooks({ publicKey: WHPK[0], secret: 'whsec_AA' })).toThrow(
      /the only one of secret, publicKey and jwks.*ERR_WBP_VERIFIER/s,
    );
  });
});
