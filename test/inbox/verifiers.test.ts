import { createHash, createHmac } from 'node:crypto';
import { sign as signForGitHub } from '@octokit/webhooks-methods';
import {
  throwing,
  verifiers,
  type InboxRequest,
  type SecretOption,
  type Verifier,
} from '@webhook-backpressure/core';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isEqual } from '../../packages/core/src/verifiers/signatures.ts';
import { InboxBench } from './inbox-bench.ts';

/** What a sender sends. */
interface Sent {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly url?: string;
}

const NOW = 1_700_000_000_000;
const SECONDS = String(NOW / 1000);
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const BODY = '{"id":"evt_1","name":"Ä"}';
const BASE = 'https://shop.example';
const FORM = 'application/x-www-form-urlencoded';

const hmac = (secret: string, message: string, hash = 'sha256'): ReturnType<typeof createHmac> =>
  createHmac(hash, secret).update(message);

interface Case {
  make(secret: SecretOption, wallClock?: () => number): Verifier;
  /** What the sender sends, signed with this secret, at this time. */
  sent(secret: string, nowMs: number): Promise<Sent> | Sent;
  readonly isTimed: boolean;
  /** The header with the signature. */
  readonly header: string;
}

function standard(prefix: 'webhook' | 'svix'): Case {
  return {
    make: (secret, wallClock) => verifiers.standardWebhooks({ secret, wallClock }),
    sent: (secret, nowMs) => ({
      body: BODY,
      headers: {
        [`${prefix}-id`]: 'msg_1',
        [`${prefix}-timestamp`]: String(nowMs / 1000),
        [`${prefix}-signature`]: new Webhook(secret).sign('msg_1', new Date(nowMs), BODY),
      },
    }),
    isTimed: true,
    header: `${prefix}-signature`,
  };
}

const cases: Record<string, Case> = {
  'Standard Webhooks': standard('webhook'),
  Svix: standard('svix'),
  Stripe: {
    make: (secret, wallClock) => verifiers.stripe({ secret, wallClock }),
    sent: (secret, nowMs) => {
      const timestamp = nowMs / 1000;
      const header = Stripe.webhooks.generateTestHeaderString({ payload: BODY, secret, timestamp });
      return { body: BODY, headers: { 'stripe-signature': header } };
    },
    isTimed: true,
    header: 'stripe-signature',
  },
  GitHub: {
    make: (secret) => verifiers.github({ secret }),
    sent: async (secret) => ({
      body: BODY,
      headers: { 'x-hub-signature-256': await signForGitHub(secret, BODY) },
    }),
    isTimed: false,
    header: 'x-hub-signature-256',
  },
  Shopify: {
    make: (secret) => verifiers.shopify({ secret }),
    sent: (secret) => ({
      body: BODY,
      headers: { 'x-shopify-hmac-sha256': hmac(secret, BODY).digest('base64') },
    }),
    isTimed: false,
    header: 'x-shopify-hmac-sha256',
  },
  Slack: {
    make: (secret, wallClock) => verifiers.slack({ secret, wallClock }),
    sent: (secret, nowMs) => {
      const time = String(nowMs / 1000);
      const signature = `v0=${hmac(secret, `v0:${time}:${BODY}`).digest('hex')}`;
      return {
        body: BODY,
        headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': signature },
      };
    },
    isTimed: true,
    header: 'x-slack-signature',
  },
  Twilio: {
    make: (secret) => verifiers.twilio({ secret, baseUrl: BASE }),
    sent: (secret) => ({
      body: 'To=%2B1800&Body=a+b',
      url: '/sms?shop=1',
      headers: {
        'content-type': FORM,
        'x-twilio-signature': hmac(secret, `${BASE}/sms?shop=1Bodya bTo+1800`, 'sha1').digest('base64'),
      },
    }),
    isTimed: false,
    header: 'x-twilio-signature',
  },
  HubSpot: {
    make: (secret, wallClock) => verifiers.hubspot({ secret, baseUrl: BASE, wallClock }),
    sent: (secret, nowMs) => {
      const message = `POST${BASE}/hooks?shop=1${BODY}${String(nowMs)}`;
      return {
        body: BODY,
        url: '/hooks?shop=1',
        headers: {
          'x-hubspot-request-timestamp': String(nowMs),
          'x-hubspot-signature-v3': hmac(secret, message).digest('base64'),
        },
      };
    },
    isTimed: true,
    header: 'x-hubspot-signature-v3',
  },
  Paddle: {
    make: (secret, wallClock) => verifiers.paddle({ secret, wallClock }),
    sent: (secret, nowMs) => {
      const time = String(nowMs / 1000);
      const signature = hmac(secret, `${time}:${BODY}`).digest('hex');
      return { body: BODY, headers: { 'paddle-signature': `ts=${time};h1=${signature}` } };
    },
    isTimed: true,
    header: 'paddle-signature',
  },
};

/** The status that an inbox with this verifier answers. */
async function statusOf(
  verify: Verifier,
  { body, headers, url }: Sent,
  more: Partial<InboxRequest> = {},
): Promise<number> {
  const bench = new InboxBench({ verify });
  const { status } = await bench.deliver(undefined, body, headers, { url: url ?? '/webhooks', ...more });
  expect(bench.inbox.snapshot().totals.stored).toBe(status < 300 ? 1 : 0);
  return status < 300 ? 200 : status;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(Object.entries(cases))('the verifier of %s', (_, { make, sent, isTimed, header }) => {
  const clock = (): number => NOW;

  it('lets in what the sender signs, and nothing that was changed', async () => {
    const genuine = await sent(SECRET, NOW);
    const verify = make(SECRET, clock);
    expect(await statusOf(verify, genuine)).toBe(200);
    expect(await statusOf(verify, { ...genuine, body: `${genuine.body} ` })).toBe(401);
    expect(await statusOf(verify, { ...genuine, body: '' })).toBe(401);
    for (const name of Object.keys(genuine.headers)) {
      const { [name]: value = '', ...others } = genuine.headers;
      expect(await statusOf(verify, { ...genuine, headers: others })).toBe(401);
      if (name === 'content-type') continue;
      for (const forged of [
        '',
        `${value}x`,
        `x${value}`,
        value.slice(0, -4),
        'null',
        '=',
        ',,,',
        'v1,',
        'é',
      ]) {
        const headers = { ...others, [name]: forged };
        expect(await statusOf(verify, { ...genuine, headers }), `${name}: ${forged}`).toBe(401);
      }
    }
  });

  it('lets in nothing that another secret signed', async () => {
    expect(await statusOf(make(OTHER, clock), await sent(SECRET, NOW))).toBe(401);
  });

  it('takes several secrets, while one is being changed, and one of a tenant', async () => {
    for (const secret of [SECRET, OTHER]) {
      const genuine = await sent(secret, NOW);
      expect(await statusOf(make([SECRET, OTHER], clock), genuine)).toBe(200);
      const ofTenant = make(({ params }) => (params['tenant'] === 'a' ? secret : undefined), clock);
      expect(await statusOf(ofTenant, genuine, { params: { tenant: 'a' } })).toBe(200);
      expect(await statusOf(ofTenant, genuine, { params: { tenant: 'b' } })).toBe(401);
      expect(
        await statusOf(
          make(() => Promise.resolve([OTHER, SECRET]), clock),
          genuine,
        ),
      ).toBe(200);
    }
  });

  it.each([
    [undefined],
    [''],
    [null],
    [[]],
    [[SECRET, undefined]],
    [['', SECRET]],
    [new Uint8Array()],
    [42],
    [{}],
  ])('does not begin without a secret: %s', (secret) => {
    expect(() => make(secret as SecretOption)).toThrow(/ERR_WBP_SECRET/);
  });

  it.each([[''], [null], [[]], [[SECRET, undefined]], [new Uint8Array()]])(
    'refuses everything when a function knows no secret but %s',
    async (secret) => {
      const signed = await sent(SECRET, NOW);
      const withEmptyKey = {
        ...signed,
        headers: { ...signed.headers, [header]: hmac('', BODY).digest('hex') },
      };
      const verify = make(() => secret as string, clock);
      expect([await statusOf(verify, signed), await statusOf(verify, withEmptyKey)]).toEqual([401, 401]);
    },
  );

  it('asks for another try when the function of the secret cannot tell', async () => {
    const unavailable = Object.assign(new Error('no database'), { status: 503 });
    expect(
      await statusOf(
        make(() => Promise.reject(unavailable), clock),
        await sent(SECRET, NOW),
      ),
    ).toBe(503);
  });

  it.runIf(isTimed)('refuses a signature whose time is more than five minutes away', async () => {
    const genuine = await sent(SECRET, NOW);
    const at = (awayMs: number): Promise<number> =>
      statusOf(
        make(SECRET, () => NOW + awayMs),
        genuine,
      );
    expect(await Promise.all([-300_000, 300_000].map(at))).toEqual([200, 200]);
    expect(await Promise.all([-300_001, 300_001, NaN].map(at))).toEqual([401, 401, 401]);
    vi.spyOn(Date, 'now').mockReturnValue(NOW);
    expect(await statusOf(make(SECRET), genuine)).toBe(200);
  });
});

/** As the senders and their libraries publish them. */
describe('a published test vector', () => {
  it('of Standard Webhooks', async () => {
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

  it('of GitHub', async () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const verify = verifiers.github({ secret: "It's a Secret to Everybody" });
    expect(
      await statusOf(verify, { body: 'Hello, World!', headers: { 'x-hub-signature-256': signature } }),
    ).toBe(200);
  });

  it('of Slack', async () => {
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
    ['a host in capitals', 'https://MyCompany.com', '', form, FORM, 'g9IN/x4Cft2g517EjYvEvM/W7LU='],
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
  ])('of Twilio, of %s', async (_, baseUrl, query, body, type, signature) => {
    const verify = verifiers.twilio({ secret: '12345', baseUrl });
    const headers = { 'content-type': type, 'x-twilio-signature': signature };
    expect(await statusOf(verify, { body, headers, url: `/myapp.php?foo=1&bar=2${query}` })).toBe(200);
    expect(
      await statusOf(verify, { body: `${body}&x`, headers, url: `/myapp.php?foo=1&bar=2${query}` }),
    ).toBe(401);
    expect(await statusOf(verify, { body, headers, url: `/myapp.php?foo=1&bar=3${query}` })).toBe(401);
  });
});

describe('Twilio', () => {
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
    ['https://a.example/', 'https://a.example'],
  ])('is given %s, and may sign %s', async (baseUrl, signedBase) => {
    const verify = verifiers.twilio({ secret: 'token', baseUrl });
    expect(await statusOf(verify, { body: '', url: '/x', headers: signed(`${signedBase}/x`) })).toBe(200);
  });

  it('signs no body that is no form and whose hash is not in the URL, so that nobody can put one in', async () => {
    const verify = verifiers.twilio({ secret: 'token', baseUrl: BASE });
    expect(await statusOf(verify, { body: '{}', url: '/x', headers: signed(`${BASE}/x`) })).toBe(401);
    const hash = createHash('sha256').update('{}').digest('hex');
    const url = `/x?bodySHA256=${hash}`;
    expect(await statusOf(verify, { body: '{}', url, headers: signed(`${BASE}${url}`) })).toBe(200);
    expect(await statusOf(verify, { body: '{ }', url, headers: signed(`${BASE}${url}`) })).toBe(401);
  });

  it('has a signature over the URL, and needs it', async () => {
    const verify = verifiers.twilio({ secret: 'token', baseUrl: BASE });
    expect(await statusOf(verify, { body: '', url: '', headers: signed(BASE) })).toBe(401);
  });
});

it('takes the URL of HubSpot with and without its escapes', async () => {
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

it('takes one of several signatures of Stripe and Paddle, and none of another version', async () => {
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

it('lets nobody give a signed delivery of Standard Webhooks a second id', async () => {
  const verify = verifiers.standardWebhooks({ secret: SECRET, wallClock: () => NOW });
  const { body, headers } = await standard('webhook').sent(SECRET, NOW);
  expect(await statusOf(verify, { body, headers: { ...headers, 'svix-id': 'msg_2' } })).toBe(401);
  expect(await statusOf(verify, { body, headers: { ...headers, 'svix-id': 'msg_1' } })).toBe(200);
});

describe('the options of a verifier', () => {
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
  ])('are checked when it is made: %s', (make, code) => {
    expect(make).toThrow(code);
  });

  it('are in no message where they are a secret', () => {
    expect(() => verifiers.standardWebhooks({ secret: 'whsec_geheim?' })).toThrow(/^(?!.*geheim)/);
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

it('agrees with the libraries of the senders', async () => {
  const webhook = new Webhook(SECRET);
  const { body, headers } = await standard('webhook').sent(SECRET, Math.floor(Date.now() / 1000) * 1000);
  const bench = new InboxBench({ verify: throwing(({ text, headers: got }) => webhook.verify(text(), got)) });
  expect((await bench.deliver(undefined, body, headers)).status).toBe(202);
  expect(await statusOf(verifiers.standardWebhooks({ secret: SECRET }), { body, headers })).toBe(200);
});
