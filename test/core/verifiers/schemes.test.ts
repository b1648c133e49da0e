import { generateKeyPairSync } from 'node:crypto';
import { verifiers } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { rawSignatureOf } from '../../../packages/inbox/src/verifiers/der.ts';
import { InboxBench } from '../inbox/inbox-bench.ts';
import { BODY_ROWS } from './cases/body-rows.ts';
import { digestOf, signedRequest } from './cases/key-rows.ts';
import { BASE, base64, BODY, hex, NOW, OTHER, SECONDS, SECRET, type Sent } from './cases/signed.ts';
import { statusOf } from './signed-deliveries.ts';

/* What only one sender does. */

const wallClock = (): number => NOW;
const options = { secret: SECRET };
const sent = (headers: Record<string, string>, body = BODY): Sent => ({ body, headers });

describe('several signatures', () => {
  const right = hex(SECRET, BODY);
  const old = hex(OTHER, BODY);
  const timed = (message: string, secret = SECRET): string => hex(secret, message);

  it.each([
    [
      'docusign',
      { 'x-docusign-signature-1': base64(OTHER, BODY), 'x-docusign-signature-2': base64(SECRET, BODY) },
    ],
    [
      'hookdeck',
      { 'x-hookdeck-signature': base64(OTHER, BODY), 'x-hookdeck-signature-2': base64(SECRET, BODY) },
    ],
    ['outpost', { 'x-outpost-signature': `v0=${old},${right}` }],
    ['outpost', { 'x-outpost-signature': `v0=${right},${old}` }],
    ['pagerduty', { 'x-pagerduty-signature': `v1=${old},v1=${right}` }],
  ] as const)('of %s: any of them counts', async (name, headers) => {
    expect(await statusOf(verifiers[name](options), sent(headers))).toBe(200);
    expect(await statusOf(verifiers[name](options), sent(headers, `${BODY} `))).toBe(401);
    expect(await statusOf(verifiers[name]({ secret: 'another' }), sent(headers))).toBe(401);
  });

  it.each([
    [
      'kit',
      'x-kit-signature',
      `t=${SECONDS},v1=${timed(`${SECONDS}.${BODY}`, OTHER)},v1=${timed(`${SECONDS}.${BODY}`)}`,
    ],
    ['recurly', 'recurly-signature', `${String(NOW)},${old},${timed(`${String(NOW)}.${BODY}`)}`],
    ['convoy', 'x-convoy-signature', `t=${SECONDS},v1=${old},v1=${timed(`${SECONDS},${BODY}`)}`],
    ['calendly', 'calendly-webhook-signature', `t=${SECONDS}, v1=${timed(`${SECONDS}.${BODY}`)}`],
  ] as const)('of %s, with a timestamp: any of them counts', async (name, header, value) => {
    const verify = verifiers[name]({ ...options, wallClock });
    expect(await statusOf(verify, sent({ [header]: value }))).toBe(200);
    expect(await statusOf(verify, sent({ [header]: value }, `${BODY} `))).toBe(401);
  });
});

it('accepts simple signatures of Convoy, and version 0 of Hook0', async () => {
  expect(
    await statusOf(
      verifiers.convoy({ ...options, wallClock }),
      sent({ 'x-convoy-signature': hex(SECRET, BODY) }),
    ),
  ).toBe(200);
  const header = `t=${SECONDS},v0=${hex(SECRET, `${SECONDS}.${BODY}`)}`;
  const later = { ...options, wallClock: () => NOW + 300_001 };
  expect(
    await statusOf(verifiers.hook0({ ...options, wallClock }), sent({ 'x-hook0-signature': header })),
  ).toBe(200);
  expect(await statusOf(verifiers.hook0(later), sent({ 'x-hook0-signature': header }))).toBe(401);
});

it('takes no signature of one scheme for one of the other', async () => {
  // Over `t=…,v1=…` of Convoy, the simple scheme would be a hash of the whole header.
  const advanced = hex(SECRET, `${SECONDS},${BODY}`);
  const verify = verifiers.convoy({ ...options, wallClock });
  expect(await statusOf(verify, sent({ 'x-convoy-signature': advanced }))).toBe(401);
  expect(await statusOf(verify, sent({ 'x-convoy-signature': `t=${SECONDS},v1=${hex(SECRET, BODY)}` }))).toBe(
    401,
  );
});

describe.each([
  ['gitlab', 'x-gitlab-token'],
  ['telegram', 'x-telegram-bot-api-secret-token'],
] as const)('the token of %s', (name, header) => {
  it('must be one of the secrets', async () => {
    const verify = verifiers[name]({ secret: [SECRET, OTHER] });
    for (const token of [SECRET, OTHER]) expect(await statusOf(verify, sent({ [header]: token }))).toBe(200);
    for (const token of ['', ' ', `${SECRET}x`, SECRET.slice(0, -1), SECRET.toLowerCase(), 'é'])
      expect(await statusOf(verify, sent({ [header]: token }))).toBe(401);
    expect(await statusOf(verify, sent({}))).toBe(401);
    expect(await statusOf(verifiers[name]({ secret: () => '' }), sent({ [header]: '' }))).toBe(401);
  });

  it.each([undefined, '', ' ', []])('cannot be %s', (secret) => {
    expect(() => verifiers[name]({ secret })).toThrow('ERR_WBP_SECRET');
  });
});

it('accepts signing tokens of GitLab as Standard Webhooks', async () => {
  const secret = `whsec_${Buffer.alloc(32, 'test').toString('base64')}`;
  const message = `f5e5f430-f57b-4e6e-9fac-d9128cd7232f.${SECONDS}.${BODY}`;
  const headers = {
    'webhook-id': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
    'webhook-timestamp': SECONDS,
    'webhook-signature': `v1,${base64(Buffer.alloc(32, 'test') as never, message)}`,
    'x-gitlab-event': 'Push Hook',
  };
  expect(await statusOf(verifiers.standardWebhooks({ secret, wallClock }), sent(headers))).toBe(200);
});

it('accepts a token of Mailgun once, since it does not cover the event', async () => {
  const signature = { token: 'abc', timestamp: SECONDS, signature: hex(SECRET, `${SECONDS}abc`) };
  const bench = new InboxBench({ verify: verifiers.mailgun(options) });
  for (const event of ['opened', 'forged']) {
    await bench.deliver(undefined, JSON.stringify({ signature, 'event-data': { event } }));
  }
  expect(bench.inbox.snapshot().totals.stored).toBe(1);
});

it('does not take a part of Mailgun’s timestamp for a part of its token, which would make a new id', async () => {
  const signature = {
    token: '0abc',
    timestamp: SECONDS.slice(0, -1),
    signature: hex(SECRET, `${SECONDS}abc`),
  };
  expect(SECONDS.endsWith('0')).toBe(true);
  const body = JSON.stringify({ signature, 'event-data': { event: 'forged' } });
  expect(await statusOf(verifiers.mailgun(options), sent({}, body))).toBe(401);
});

it('rejects a form of Braintree with two payloads, of which a handler may read the other', async () => {
  const { body } = (await BODY_ROWS.find(({ verifier }) => verifier === 'braintree')?.sent(
    SECRET,
    NOW,
  )) as Sent;
  expect(await statusOf(verifiers.braintree(options), sent({}, body))).toBe(200);
  expect(await statusOf(verifiers.braintree(options), sent({}, `${body}&bt_payload=forged`))).toBe(401);
});

describe('HTTP message signatures', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'pem' });
  const base = { algorithm: 'ed25519', key, baseUrl: BASE, wallClock } as const;
  const verify = (more: object = {}) => verifiers.httpSignatures({ ...base, ...more });
  const signed = (more: object = {}) => signedRequest('ed25519', privateKey, NOW, more);

  it('require that the body and the time are covered', async () => {
    expect(await statusOf(verify(), await signed({ fields: ['content-digest'] }))).toBe(200);
    expect(await statusOf(verify(), await signed({ fields: ['@method', '@path'] }))).toBe(401);
    expect(await statusOf(verify(), await signed({ params: [] }))).toBe(401);
    expect(await statusOf(verify(), await signed({ fields: ['@method'], body: '' }))).toBe(200);
    expect(await statusOf(verify(), await signed({ fields: ['@path'], body: '' }))).toBe(401);
  });

  it('require the components of the option', async () => {
    const strict = verify({ components: ['@method', 'content-digest', '@path'] });
    expect(await statusOf(strict, await signed())).toBe(200);
    expect(await statusOf(strict, await signed({ fields: ['content-digest', '@method'] }))).toBe(401);
  });

  it('bring the id only if it must be covered', async () => {
    const genuine = await signed({ fields: ['content-digest', 'webhook-id'], id: 'msg_1' });
    const replay = { 'x-github-event': 'push', 'x-github-delivery': 'another' };
    const bench = new InboxBench({ verify: verify({ components: ['webhook-id'] }) });
    for (const more of [{}, replay])
      await bench.deliver(undefined, BODY, { ...genuine.headers, ...more }, { url: genuine.url });
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 1 });
    expect(bench.last.delivery).toMatchObject({ id: 'msg_1', key: 'http-signatures' });
    expect(verify().id).toBeUndefined();
  });

  it('cover what they name', async () => {
    const fields = ['@method', '@target-uri', '@authority', '@scheme', '@request-target', '@path', '@query'];
    const genuine = await signed({ fields: [...fields, 'content-digest'] });
    expect(await statusOf(verify(), genuine)).toBe(200);
    expect(await statusOf(verify(), genuine, { method: 'PUT' })).toBe(401);
    expect(await statusOf(verify(), { ...genuine, url: '/hooks?a=2' })).toBe(401);
    expect(await statusOf(verify({ baseUrl: 'https://other.example' }), genuine)).toBe(401);
    expect(await statusOf(verify({ baseUrl: undefined }), genuine)).toBe(401);
    expect(
      await statusOf(
        verify({ baseUrl: 'https://SHOP.example:443' }),
        await signed({ fields: ['@authority', 'content-digest'] }),
      ),
    ).toBe(200);
  });

  it('with a digest that the body does not match are rejected, also without a body', async () => {
    const genuine = await signed();
    expect(await statusOf(verify(), { ...genuine, body: '' })).toBe(401);
    const headers = { ...genuine.headers, 'content-digest': digestOf('another') };
    expect(await statusOf(verify(), { ...genuine, headers })).toBe(401);
  });

  it.each([
    'sig',
    'sig=',
    'sig=()',
    'sig=("@method")',
    'sig=("content-digest");created=1700000000',
    'sig=("content-digest";req);created=1700000000',
    'sig=("content-digest" "content-digest");created=1700000000',
    'sig=(content-digest);created=1700000000',
    'sig=("content-digest");created="x"',
    'sig=("content-digest" "@status");created=1700000000',
    'sig=("content-digest" "x-absent");created=1700000000',
    'sig=("content-digest" "constructor");created=1700000000',
    'sig=("content-digest" "__proto__");created=1700000000',
    'sig=("content-digest" "@query-param";name="c");created=1700000000',
    'sig=("content-digest" "@query-param";name="%");created=1700000000',
    'sig=("content-digest");created=1700000000;alg="hmac-sha256"',
    'sig=("content-digest");created=1700000000;expires=1699999999',
    'sig=("content-digest"',
    'sig=:AAAA:',
    ',,,',
    '('.repeat(1000),
    `sig=(${'"a" '.repeat(2000)});created=1700000000`,
  ])('with the input %s are rejected, and taken for no bug', async (input) => {
    const genuine = await signed();
    const headers = { ...genuine.headers, 'signature-input': input };
    const bench = new InboxBench({ verify: verify() });
    const { url, body } = genuine;
    expect((await bench.deliver(undefined, body, headers, { url })).status).toBe(401);
    const errors = bench.events.map((event) => ('error' in event ? event.error : ''));
    expect(errors.join()).not.toMatch(/TypeError|is not a function|URI malformed/);
  });

  it('beside one of another sender count', async () => {
    const genuine = await signed({ fields: ['content-digest'] });
    const headers = {
      ...genuine.headers,
      'signature-input': `proxy=("@method");created=1;keyid="p", ${genuine.headers['signature-input'] ?? ''}`,
      signature: `proxy=:AAAA:, ${genuine.headers['signature'] ?? ''}`,
    };
    expect(await statusOf(verify(), { ...genuine, headers })).toBe(200);
  });

  it.each([
    [{ algorithm: 'rsa' }, /algorithm must be .*ERR_WBP_VERIFIER/s],
    [{ key: 'abc' }, 'ERR_WBP_SECRET'],
    [{ components: 'content-digest' }, /components must be .*ERR_WBP_VERIFIER/s],
    [{ components: ['Content-Digest'] }, /components must be .*ERR_WBP_VERIFIER/s],
    [{ components: ['@traget-uri'] }, /components must be .*ERR_WBP_VERIFIER/s],
    [{ baseUrl: 'shop.example' }, 'ERR_WBP_VERIFIER'],
    [{ baseUrl: undefined, components: ['@target-uri'] }, /baseUrl must be .*ERR_WBP_VERIFIER/s],
    [{ baseUrl: undefined, components: ['@authority'] }, /baseUrl must be .*ERR_WBP_VERIFIER/s],
  ])('refuse the options %s', (more, message) => {
    expect(() => verify(more)).toThrow(message);
  });
});

it('rejects signatures of ECDSA that are not DER', () => {
  const whole = Buffer.from('3006020101020102', 'hex');
  expect(rawSignatureOf(whole)?.at(-1)).toBe(2);
  for (let size = 0; size < whole.length; size += 1)
    expect(rawSignatureOf(whole.subarray(0, size))).toBeUndefined();
  for (const text of [
    '',
    '300602010102010200',
    '3006030101020102',
    '30800201010201020000',
    '3003020101',
    `3026${'02'.padEnd(4, '22')}${'01'.repeat(34)}020101`,
  ])
    expect(rawSignatureOf(Buffer.from(text, 'hex'))).toBeUndefined();
  expect(rawSignatureOf(undefined)).toBeUndefined();
});
