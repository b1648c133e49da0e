import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HMAC_SENDERS, KEY_PAIR_SENDERS, TOKEN_SENDERS } from '@webhook-backpressure/inbox/tool';
import { verifiers } from '@webhook-backpressure/inbox';
import { stream } from '@webhook-backpressure/planner/parts';
import { builtInSenders, createRecognition, known } from '@webhook-backpressure/senders';
import { Composer } from '../../packages/fire/src/requests/composer.ts';
import { signerOf } from '../../packages/fire/src/signing/signer.ts';

const URL_OF_HOOK = new URL('https://shop.example/hooks?shop=1');
const NOW_MS = 1_763_600_123_456;
/** Also base64 of 24 bytes, as Standard Webhooks asks. */
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

/** The senders that share a secret, by their names in `verifiers`. */
const SHARED = [
  ...Object.keys({ ...HMAC_SENDERS, ...TOKEN_SENDERS }),
  ...['standardWebhooks', 'svix', 'hubspot', 'twilio'],
];

const NEED_URL = ['square', 'hubspot', 'twilio'];

function composed(
  name: string,
  i: number,
  retries: number,
): Parameters<ReturnType<typeof verifiers.github>>[0] {
  const sender = known[name as keyof typeof known].name;
  const composer = new Composer(
    sender,
    URL_OF_HOOK,
    signerOf(sender, SECRET),
    stream(1, 'ids'),
    () => NOW_MS,
  );
  const { headers, body } = composer.compose(i, retries);
  const lower = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value] as const);
  return {
    method: 'POST',
    url: URL_OF_HOOK.pathname + URL_OF_HOOK.search,
    path: URL_OF_HOOK.pathname,
    params: {},
    context: null,
    headers: Object.fromEntries(lower),
    rawBody: body,
    text: () => body.toString(),
    json: () => JSON.parse(body.toString()) as unknown,
  };
}

function verifierOf(name: string, options: object): ReturnType<typeof verifiers.github> {
  const url = NEED_URL.includes(name) ? { baseUrl: URL_OF_HOOK.origin } : {};
  const isTimed = !/^(?:square|twilio)$/.test(name);
  const make = verifiers[name as 'stripe'] as (given: object) => ReturnType<typeof verifiers.github>;
  try {
    return make({ ...options, ...url, ...(isTimed ? { wallClock: () => NOW_MS } : {}) });
  } catch {
    // It signs no timestamp.
    return make({ ...options, ...url });
  }
}

describe('the signatures of fire', () => {
  it.each(SHARED)('are accepted by verifiers.%s, and only with the secret', async (name) => {
    const verify = verifierOf(name, { secret: SECRET });
    await expect(verify(composed(name, 0, 0))).resolves.toBe(true);
    await expect(verify(composed(name, 1234, 2))).resolves.toBe(true);
    const other = verifierOf(name, { secret: 'whsec_OTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMy' });
    await expect(other(composed(name, 0, 0))).rejects.toThrow();
  });

  it.each(Object.keys(KEY_PAIR_SENDERS))(
    'are accepted by verifiers.%s with the public key shown',
    async (name) => {
      const { note } = signerOf(known[name as keyof typeof known].name, SECRET);
      const publicKey = /public key is (\S+)$/.exec(note ?? '')?.[1];
      await expect(verifierOf(name, { publicKey })(composed(name, 7, 0))).resolves.toBe(true);
    },
  );

  it('have an id that the verifier finds, the same at each attempt and different for each delivery', () => {
    for (const name of Object.keys(HMAC_SENDERS).filter((one) => HMAC_SENDERS[one]?.id !== undefined)) {
      const verify = verifierOf(name, { secret: SECRET });
      const ids = [composed(name, 5, 0), composed(name, 5, 3), composed(name, 6, 0)].map(
        verify.id as (delivery: unknown) => unknown,
      );
      expect([name, typeof ids[0], ids[0] === ids[1], ids[0] === ids[2]]).toEqual([
        name,
        'string',
        true,
        false,
      ]);
    }
  });

  it('include the older one of GitHub with SHA-1', () => {
    const { headers, rawBody } = composed('github', 0, 0);
    const sha1 = createHmac('sha1', SECRET).update(rawBody).digest('hex');
    expect(headers['x-hub-signature']).toBe(`sha1=${sha1}`);
  });

  it('say why there are none', () => {
    expect(signerOf('paypal', SECRET).note).toMatch(/^unsigned: its signature needs a key/);
    expect(signerOf('stripe', undefined).note).toMatch(/^unsigned: --secret has none/);
    expect(() => signerOf('svix', 'short')).toThrow(
      '--secret must be "whsec_" and base64 of at least 24 bytes for svix.',
    );
  });
});

describe('the requests of fire', () => {
  const recognition = createRecognition(builtInSenders);

  it.each(builtInSenders.map(({ name }) => name))('are recognized as those of %s', (name) => {
    const composer = new Composer(name, URL_OF_HOOK, signerOf(name, SECRET), stream(1, 'ids'), () => NOW_MS);
    const { headers } = composer.compose(0, 0);
    const lower = Object.fromEntries(
      Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]),
    );
    expect(recognition.find(lower)?.name).toBe(name);
  });

  it('have the size of a real one', () => {
    expect(composed('stripe', 0, 0).rawBody.byteLength).toBe(2314);
    expect(composed('github', 0, 0).rawBody.byteLength).toBe(7322);
    expect(composed('awsSns', 0, 0).rawBody.byteLength).toBe(1336);
  });

  it('count the attempts as the sender does', () => {
    expect(composed('slack', 0, 0).headers['x-slack-retry-num']).toBeUndefined();
    expect(composed('slack', 0, 1).headers).toMatchObject({
      'x-slack-retry-num': '1',
      'x-slack-retry-reason': 'http_error',
    });
    expect(composed('bitbucket', 0, 1).headers['x-attempt-number']).toBe('2');
  });

  it('have different ids for 10,000 deliveries, in the form of the sender', () => {
    const composer = new Composer(
      'stripe',
      URL_OF_HOOK,
      signerOf('stripe', undefined),
      stream(1, 'ids'),
      () => NOW_MS,
    );
    const ids = new Set<string>();
    for (let i = 0; i < 10_000; i += 1) {
      ids.add((JSON.parse(composer.compose(i, 0).body.toString()) as { id: string }).id);
    }
    expect(ids.size).toBe(10_000);
    expect([...ids].every((id) => /^evt_[A-Za-z\d]{24}$/.test(id))).toBe(true);
  });
});
