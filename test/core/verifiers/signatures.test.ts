import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { throwing, verifiers } from '@webhook-backpressure/inbox';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isEqual } from '../../../packages/inbox/src/verifiers/signatures.ts';
import { InboxBench } from '../inbox/inbox-bench.ts';
import { BASE, BODY, FORM, hmac, NOW, SECONDS, SECRET, type Sent } from './cases/signed.ts';
import { standard } from './cases/hmac-rows.ts';
import { statusOf } from './signed-deliveries.ts';

/** The vectors that senders and their libraries publish. */
describe('a published test vector', () => {
  it('verifies for Standard Webhooks', async () => {
    const sent = {
      body: '{"test": 2432232314}',
      headers: {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,bm9wZQ== v2,abc v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
    };
    const wallClock = (): number => 1_614_265_330_000;
    expect(await statusOf(verifiers.standardWebhooks({ secret: SECRET, wallClock }), sent)).toBe(200);
    expect(await statusOf(verifiers.svix({ secret: SECRET.slice(6), wallClock }), sent)).toBe(200);
  });

  it('verifies for GitHub', async () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const verify = verifiers.github({ secret: "It's a Secret to Everybody" });
    expect(
      await statusOf(verify, { body: 'Hello, World!', headers: { 'x-hub-signature-256': signature } }),
    ).toBe(200);
  });

  it('verifies for Slack', async () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
      '&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
      '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
      '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    };
    const secret = '8f742231b10e8888abcd99yyyzzz85a5';
    const verify = verifiers.slack({ secret, wallClock: () => 1_531_420_618_000 });
    expect(await statusOf(verify, { body, headers })).toBe(200);
  });

  const form =
    'Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE';
  const json = '{"property": "value", "boolean": true}';
  const hash = '0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620';
  it.each([
    ['a form', 'https://mycompany.com', '', form, FORM, 'RSOYDt4T1cUTdK1PDd93/VVr8B8='],
    ['a host with capital letters', 'https://MyCompany.com', '', form, FORM, 'g9IN/x4Cft2g517EjYvEvM/W7LU='],
    [
      'repeated fields',
      'https://mycompany.com',
      '',
      'Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234',
      FORM,
      'IK+Dwps556ElfBT0I3Rgjkr1wJU=',
    ],
    [
      'JSON',
      'https://mycompany.com',
      `&bodySHA256=${hash}`,
      json,
      'application/json',
      'a9nBmqA0ju/hNViExpshrM61xv4=',
    ],
  ])('verifies for Twilio with %s', async (_, baseUrl, query, body, type, signature) => {
    const verify = verifiers.twilio({ secret: '12345', baseUrl });
    const headers = { 'content-type': type, 'x-twilio-signature': signature };
    expect(await statusOf(verify, { body, headers, url: `/myapp.php?foo=1&bar=2${query}` })).toBe(200);
    expect(
      await statusOf(verify, { body: `${body}&x`, headers, url: `/myapp.php?foo=1&bar=2${query}` }),
    ).toBe(401);
    expect(await statusOf(verify, { body, headers, url: `/myapp.php?foo=1&bar=3${query}` })).toBe(401);
  });
});

describe('the verifier of Twilio', () => {
  const signed = (message: string): Record<string, string> => ({
    'content-type': 'application/json',
    'x-twilio-signature': hmac('token', message, 'sha1').digest('base64'),
  });

  it.each([
    ['https://a.example', 'https://a.example:443'],
    ['https://a.example:443', 'https://a.example'],
    ['http://a.example', 'http://a.example:80'],
    ['https://a.example/prefix', 'https://a.example:443/prefix'],
    ['https://a.example:8443', 'https://a.example:8443'],
    ['https://a.example:8443/prefix', 'https://a.example/prefix'],
    ['https://a.example/', 'https://a.example'],
  ])('with baseUrl %s accepts a signature over %s', async (baseUrl, signedBase) => {
    const verify = verifiers.twilio({ secret: 'token', baseUrl });
    expect(await statusOf(verify, { body: '', url: '/x', headers: signed(`${signedBase}/x`) })).toBe(200);
  });

  it('rejects a body that is neither a form nor hashed in the URL, as it is not signed', async () => {
    const verify = verifiers.twilio({ secret: 'token', baseUrl: BASE });
    expect(await statusOf(verify, { body: '{}', url: '/x', headers: signed(`${BASE}/x`) })).toBe(401);
    const hash = createHash('sha256').update('{}').digest('hex');
    const url = `/x?bodySHA256=${hash}`;
    expect(await statusOf(verify, { body: '{}', url, headers: signed(`${BASE}${url}`) })).toBe(200);
    expect(await statusOf(verify, { body: '{ }', url, headers: signed(`${BASE}${url}`) })).toBe(401);
  });

  it('rejects a request without a URL', async () => {
    const verify = verifiers.twilio({ secret: 'token', baseUrl: BASE });
    expect(await statusOf(verify, { body: '', url: '', headers: signed(BASE) })).toBe(401);
  });
});

it('accepts HubSpot URLs signed with and without escapes', async () => {
  const url = '/hooks?to=%2F%40a%20b%3F';
  for (const signedUrl of [url, '/hooks?to=/@a%20b?']) {
    const headers = {
      'x-hubspot-request-timestamp': String(NOW),
      'x-hubspot-signature-v3': hmac('s', `POST${BASE}${signedUrl}${BODY}${String(NOW)}`).digest('base64'),
    };
    const verify = verifiers.hubspot({ secret: 's', baseUrl: BASE, wallClock: () => NOW });
    expect(await statusOf(verify, { body: BODY, url, headers })).toBe(200);
    expect(await statusOf(verify, { body: BODY, url, headers }, { method: 'PUT' })).toBe(401);
  }
});

it('accepts any of several signatures of Stripe and Paddle, but no other version', async () => {
  const right = hmac('s', `${SECONDS}.${BODY}`).digest('hex');
  const stripe = verifiers.stripe({ secret: 's', wallClock: () => NOW });
  const header = (value: string): Sent => ({ body: BODY, headers: { 'stripe-signature': value } });
  expect(await statusOf(stripe, header(`t=${SECONDS},v1=00,v1=${right.toUpperCase()}`))).toBe(200);
  expect(await statusOf(stripe, header(`t=${SECONDS},v0=${right}`))).toBe(401);
  const forPaddle = hmac('s', `${SECONDS}:${BODY}`).digest('hex');
  const headers = { 'paddle-signature': `ts=${SECONDS};h1=00;h1=${forPaddle}` };
  expect(
    await statusOf(verifiers.paddle({ secret: 's', wallClock: () => NOW }), { body: BODY, headers }),
  ).toBe(200);
});

it('rejects a signed Standard Webhooks delivery with a second id', async () => {
  const verify = verifiers.standardWebhooks({ secret: SECRET, wallClock: () => NOW });
  const { body, headers } = await standard('webhook').sent(SECRET, NOW);
  expect(await statusOf(verify, { body, headers: { ...headers, 'svix-id': 'msg_2' } })).toBe(401);
  expect(await statusOf(verify, { body, headers: { ...headers, 'svix-id': 'msg_1' } })).toBe(200);
});

describe('the options of a verifier', () => {
  const PUBLIC = generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey.export({
    type: 'spki',
    format: 'pem',
  });
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
    type: 'spki',
    format: 'der',
  });
  const CUT_RSA = new Uint8Array(rsa.subarray(0, -1));

  it('may be keys in bytes, of RSA with 1,024 bits, and secrets as Supabase shows them', async () => {
    verifiers.httpSignatures({ algorithm: 'rsa-v1_5-sha256', key: new Uint8Array(rsa) });
    const pair = generateKeyPairSync('ed25519');
    const publicKey = new Uint8Array(pair.publicKey.export({ type: 'spki', format: 'der' }));
    const headers = {
      'x-signature-timestamp': SECONDS,
      'x-signature-ed25519': sign(null, Buffer.from(SECONDS + BODY), pair.privateKey).toString('hex'),
    };
    const discord = verifiers.discord({ publicKey, wallClock: () => NOW });
    expect(await statusOf(discord, { body: BODY, headers })).toBe(200);
    const verify = verifiers.standardWebhooks({ secret: `v1,${SECRET}`, wallClock: () => NOW });
    expect(await statusOf(verify, await standard('webhook').sent(SECRET, NOW))).toBe(200);
  });

  it('may be undefined beside the one that counts', () => {
    const publicKey = undefined;
    expect(() => verifiers.standardWebhooks({ secret: SECRET, publicKey, jwks: undefined })).not.toThrow();
    expect(() => verifiers.standardWebhooks({ secret: undefined, publicKey })).toThrow(
      'publicKey is missing',
    );
  });

  it.each([
    [() => verifiers.stripe({ secret: 's', toleranceMs: 0 }), 'ERR_WBP_VERIFIER'],
    [() => verifiers.stripe({ secret: 's', toleranceMs: NaN }), 'ERR_WBP_VERIFIER'],
    [() => verifiers.stripe({ secret: 's', wallClock: 5 as never }), 'ERR_WBP_VERIFIER'],
    [() => verifiers.twilio({ secret: 's', baseUrl: 'shop.example' }), 'ERR_WBP_VERIFIER'],
    [() => verifiers.twilio({ secret: 's', baseUrl: 'https://shop.example/?a' }), 'ERR_WBP_VERIFIER'],
    [() => verifiers.hubspot({ secret: 's' } as never), 'ERR_WBP_VERIFIER'],
    [() => verifiers.github({ secert: 's' } as never), 'ERR_WBP_UNKNOWN_OPTION'],
    [() => verifiers.github('s' as never), 'ERR_WBP_OPTIONS'],
    [() => verifiers.standardWebhooks({ secret: 'whsec_' }), 'ERR_WBP_SECRET'],
    [() => verifiers.standardWebhooks({ secret: 'whsec_?' }), 'ERR_WBP_SECRET'],
    [() => verifiers.standardWebhooks({ secret: 'whsec_AA==' }), 'at least 24 bytes'],
    [() => verifiers.standardWebhooks({ secret: new Uint8Array(23) }), 'at least 24 bytes'],
    [() => verifiers.discord({ publicKey: new Uint8Array(33) }), 'ERR_WBP_SECRET'],
    [() => verifiers.discord({ publicKey: new Uint8Array(44) }), 'ERR_WBP_SECRET'],
    [() => verifiers.sendgridEvents({ publicKey: new Uint8Array(91) }), 'ERR_WBP_SECRET'],
    [() => verifiers.httpSignatures({ algorithm: 'rsa-pss-sha512', key: 'A'.repeat(400) }), 'ERR_WBP_SECRET'],
    [() => verifiers.httpSignatures({ algorithm: 'rsa-v1_5-sha256', key: CUT_RSA }), 'ERR_WBP_SECRET'],
    [() => verifiers.httpSignatures({ algorithm: 'hmac-sha256', key: PUBLIC }), 'ERR_WBP_SECRET'],
    [() => verifiers.github({ secret: '\u200b' }), 'is empty or blank'],
    [() => verifiers.github({ secret: 'undefined' }), 'is the text "undefined"'],
    [() => verifiers.github({ secret: 'null' }), 'is the text "null"'],
  ])('are checked at construction: %s', (make, code) => {
    expect(make).toThrow(code);
  });

  it('do not appear in messages if they are secret', () => {
    expect(() => verifiers.standardWebhooks({ secret: 'whsec_private?' })).toThrow(/^(?!.*private)/);
  });
});

it('compares all bytes', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  expect(
    [bytes, Uint8Array.of(1, 2, 4), Uint8Array.of(9, 2, 3), Uint8Array.of(1, 2), undefined].map((given) =>
      isEqual(bytes, given),
    ),
  ).toEqual([true, false, false, false, false]);
});

it('agrees with the senders’ libraries', async () => {
  const webhook = new Webhook(SECRET);
  const { body, headers } = await standard('webhook').sent(SECRET, Math.floor(Date.now() / 1000) * 1000);
  const bench = new InboxBench({ verify: throwing(({ text, headers: got }) => webhook.verify(text(), got)) });
  expect((await bench.deliver(undefined, body, headers)).status).toBe(202);
  expect(await statusOf(verifiers.standardWebhooks({ secret: SECRET }), { body, headers })).toBe(200);
});
