import { EventEmitter } from 'node:events';
import { sign, X509Certificate } from 'node:crypto';
import https from 'node:https';
import { crc32 } from 'node:zlib';
import { type KeyFetch, verifiers } from '@webhook-backpressure/inbox';
import MessageValidator from 'sns-validator';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { publicKeyOf } from '../../../packages/inbox/src/verifiers/der.ts';
import { InboxBench } from '../inbox/inbox-bench.ts';
import { newCertificate } from './cases/certificate.ts';
import { NOW, type Sent } from './cases/signed.ts';
import { statusOf } from './signed-deliveries.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const certificate = newCertificate();
const SNS_URL = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem';
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:orders';
const MESSAGE_ID = '165545c9-2a5c-472c-8df2-7ff2be2b3b1b';
const clock = { wallClock: () => NOW };

/** A key server that answers every URL. */
function serverOf(answer: () => Response) {
  return vi.fn<KeyFetch>(() => Promise.resolve(answer()));
}

const servingPem = () => serverOf(() => new Response(certificate.pem));

const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];

function sns(more: Record<string, unknown> = {}): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    Type: 'Notification',
    MessageId: MESSAGE_ID,
    TopicArn: TOPIC,
    Message: 'Grüße 👋\n',
    Timestamp: new Date(NOW).toISOString(),
    SignatureVersion: '2',
    SigningCertURL: SNS_URL,
    ...more,
  };
  const names = fields['Type'] === 'Notification' ? NOTIFICATION : CONFIRMATION;
  const text = names
    .flatMap((name) => (name in fields ? [`${name}\n${String(fields[name])}\n`] : []))
    .join('');
  const hash = fields['SignatureVersion'] === '1' ? 'sha1' : 'sha256';
  return { ...fields, Signature: sign(hash, Buffer.from(text), certificate.privateKey).toString('base64') };
}

const sentBySns = (message: object): Sent => ({ body: JSON.stringify(message), headers: {} });

/** Whether AWS's validator accepts a message. */
function isAcceptedByAws(message: object): Promise<boolean> {
  vi.spyOn(https, 'get').mockImplementation(((_: string, answer: (response: EventEmitter) => void) => {
    const response = Object.assign(new EventEmitter(), { statusCode: 200 });
    answer(response);
    response.emit('data', certificate.pem);
    response.emit('end');
    return new EventEmitter();
  }) as never);
  return new Promise((resolve) => {
    new MessageValidator().validate({ ...message }, (error) => {
      resolve(error === null);
    });
  });
}

describe('the verifier of Amazon SNS', () => {
  const verify = (fetch = servingPem()) => verifiers.awsSns({ topicArn: [TOPIC], fetch, ...clock });

  it.each([
    ['version 2', sns()],
    ['version 1', sns({ SignatureVersion: '1' })],
    ['a subject', sns({ Subject: 'Ä' })],
    ['a confirmation', sns({ Type: 'SubscriptionConfirmation', SubscribeURL: 'https://x', Token: 't' })],
  ])('accepts a message as sns-validator does: %s', async (_, message) => {
    expect(await isAcceptedByAws(message)).toBe(true);
    expect(await statusOf(verify(), sentBySns(message))).toBe(200);
    const changes = {
      Message: 'x',
      MessageId: MESSAGE_ID.replace('1', '2'),
      Timestamp: new Date(NOW + 1).toISOString(),
      Type: 'UnsubscribeConfirmation',
    };
    for (const [name, value] of Object.entries(changes)) {
      const changed = { ...message, [name]: value };
      expect(await isAcceptedByAws(changed), name).toBe(false);
      expect(await statusOf(verify(), sentBySns(changed)), name).toBe(401);
    }
  });

  it.each([
    { TopicArn: 'arn:aws:sns:eu-west-1:999999999999:orders' },
    { SignatureVersion: '3' },
    { SigningCertURL: SNS_URL.replace('https', 'http') },
    { SigningCertURL: SNS_URL.replace('sns.', 'evil.') },
    { SigningCertURL: SNS_URL.replace('.com', '.com.evil.example') },
    { SigningCertURL: SNS_URL.replace('https://', 'https://evil.example@') },
    { SigningCertURL: `${SNS_URL}?x=.pem` },
    { SigningCertURL: `https://evil.example/?${SNS_URL}` },
    { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Subscribe&x=.pem' },
    { SigningCertURL: 7 },
    { Timestamp: 'yesterday' },
    { MessageId: 'msg_1' },
    { Subject: `x\nMessageId\n${MESSAGE_ID}` },
    { Type: 'Other' },
  ])('rejects another topic, version or certificate without fetching: %s', async (more) => {
    const fetch = servingPem();
    expect(await statusOf(verify(fetch), sentBySns(sns(more)))).toBe(401);
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each(['', '[]', 'null', '{', '"x"'])('rejects a body without a message: %s', async (body) => {
    expect(await statusOf(verify(), { body, headers: {} })).toBe(401);
  });

  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{}, { MessageId: undefined, Message: `Grüße 👋\n\nMessageId\n${MESSAGE_ID}` }],
    [{ Subject: 'Ä' }, { Subject: undefined, MessageId: `${MESSAGE_ID}\nSubject\nÄ` }],
  ])('rejects the same signed text as other fields, which would have another id: %s', async (more, moved) => {
    expect(await statusOf(verify(), sentBySns(sns(more)))).toBe(200);
    expect(await statusOf(verify(), sentBySns({ ...sns(more), ...moved }))).toBe(401);
  });

  it('keeps a certificate that has verified a message, however many others are named', async () => {
    const time = { now: NOW };
    const fetch = servingPem();
    const verifier = verifiers.awsSns({ topicArn: TOPIC, fetch, wallClock: () => time.now });
    expect(await statusOf(verifier, sentBySns(sns()))).toBe(200);
    for (let at = 100; at < 140; at += 1) {
      const url = SNS_URL.replace('.pem', `${String(at)}.pem`);
      const forged = { ...sns({ SigningCertURL: url }), Signature: 'AAAA' };
      expect(await statusOf(verifier, sentBySns(forged))).toBe(401);
      time.now += 1000;
    }
    expect(await statusOf(verifier, sentBySns(sns()))).toBe(200);
    expect(fetch.mock.calls.filter(([url]) => url === SNS_URL)).toHaveLength(1);
  });

  it('fetches a certificate once', async () => {
    const fetch = servingPem();
    const verifier = verify(fetch);
    await Promise.all([1, 2, 3].map(() => statusOf(verifier, sentBySns(sns()))));
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(fetch).toHaveBeenCalledWith(SNS_URL, expect.objectContaining({ redirect: 'manual' }));
  });

  it('checks the timestamp only with toleranceMs, since a retry repeats it', async () => {
    const options = { topicArn: TOPIC, fetch: servingPem(), wallClock: () => NOW + 300_001 };
    expect(await statusOf(verifiers.awsSns(options), sentBySns(sns()))).toBe(200);
    const strict = verifiers.awsSns({ ...options, toleranceMs: 300_000 });
    expect(await statusOf(strict, sentBySns(sns()))).toBe(401);
  });

  it('brings the id of the message', async () => {
    const bench = new InboxBench({ verify: verify() });
    for (const id of ['a', 'b'])
      await bench.deliver(undefined, JSON.stringify(sns()), { 'x-amz-sns-message-id': id });
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 1 });
    expect(bench.last.delivery).toMatchObject({ id: MESSAGE_ID, key: 'aws-sns' });
  });

  it.each([
    [new Response('', { status: 404 })],
    [new Response('no certificate')],
    [new Response('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')],
    [new Response(certificate.pem.repeat(100))],
    [new Response(null)],
  ])('asks for a retry if the server has no certificate', async (response) => {
    const fetch = serverOf(() => response.clone());
    expect(await statusOf(verify(fetch), sentBySns(sns()))).toBe(503);
  });

  it.each([undefined, '', 'orders', [], [TOPIC, 'x'], 7])('refuses the topic %s', (topicArn) => {
    expect(() => verifiers.awsSns({ topicArn: topicArn as string, fetch: servingPem() })).toThrow(
      /topicArn must be the ARN .*ERR_WBP_VERIFIER/s,
    );
  });

  it('refuses a missing fetch', () => {
    expect(() => verifiers.awsSns({ topicArn: TOPIC } as never)).toThrow(
      /fetch must be a function.*ERR_WBP_VERIFIER/s,
    );
  });
});

describe('the verifier of PayPal', () => {
  const WEBHOOK = '8PT597110X687430LKGECATA';
  const CERT_URL = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270';
  const TIME = new Date(NOW).toISOString().replace('.000', '');
  const BODY = '{"id":"WH-1","resource":{"note":"Grüße 👋"}}';

  function sent(more: Record<string, string> = {}, body = BODY): Sent {
    const message = `tx_1|${TIME}|${WEBHOOK}|${String(crc32(Buffer.from(body)))}`;
    const headers = {
      'paypal-transmission-id': 'tx_1',
      'paypal-transmission-time': TIME,
      'paypal-transmission-sig': sign('sha256', Buffer.from(message), certificate.privateKey).toString(
        'base64',
      ),
      'paypal-cert-url': CERT_URL,
      'paypal-auth-algo': 'SHA256withRSA',
      ...more,
    };
    return { body, headers };
  }

  const verify = (fetch = servingPem(), more = {}) =>
    verifiers.paypal({ webhookId: WEBHOOK, fetch, ...clock, ...more });

  it('accepts a signed delivery, and rejects any change to it', async () => {
    expect(await statusOf(verify(), sent())).toBe(200);
    expect(await statusOf(verify(), { ...sent(), body: `${BODY} ` })).toBe(401);
    expect(await statusOf(verify(), { ...sent(), body: '' })).toBe(401);
    expect(await statusOf(verify(servingPem(), { webhookId: 'OTHER' }), sent())).toBe(401);
    for (const name of Object.keys(sent().headers)) {
      expect(await statusOf(verify(), sent({ [name]: '' })), name).toBe(401);
      expect(await statusOf(verify(), sent({ [name]: `x${sent().headers[name] ?? ''}` })), name).toBe(401);
    }
  });

  it.each([
    'https://api.paypal.com.evil.example/v1/notifications/certs/CERT-1',
    'https://evilpaypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com@evil.example/v1/notifications/certs/CERT-1',
    'https://evil.example/api.paypal.com/v1/notifications/certs/CERT-1',
    'http://api.paypal.com/v1/notifications/certs/CERT-1',
    'https://api.paypal.com:8443/v1/notifications/certs/CERT-1',
    'https://www.paypal.com/upload/CERT-1',
    'https://api.paypal.com/v1/notifications/certs/../../CERT-1',
  ])('does not fetch a certificate from %s', async (url) => {
    const fetch = servingPem();
    expect(await statusOf(verify(fetch), sent({ 'paypal-cert-url': url }))).toBe(401);
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each(['https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1', CERT_URL])(
    'fetches a certificate from %s',
    async (url) => {
      expect(await statusOf(verify(), sent({ 'paypal-cert-url': url }))).toBe(200);
    },
  );

  it('checks the time only with toleranceMs', async () => {
    const later = { wallClock: () => NOW + 300_001 };
    expect(await statusOf(verify(servingPem(), later), sent())).toBe(200);
    expect(await statusOf(verify(servingPem(), { ...later, toleranceMs: 300_000 }), sent())).toBe(401);
  });

  it('brings the id of the event', async () => {
    const bench = new InboxBench({ verify: verify() });
    for (let at = 0; at < 2; at += 1) await bench.deliver(undefined, BODY, sent().headers);
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 1 });
    expect(bench.last.delivery).toMatchObject({ id: 'WH-1', key: 'paypal' });
  });

  it.each([undefined, '', 'a b', 7])('refuses the webhook id %s', (webhookId) => {
    expect(() => verify(servingPem(), { webhookId })).toThrow(/webhookId must be .*ERR_WBP_VERIFIER/s);
  });
});

describe('the public key in a certificate', () => {
  it.each([true, false])('is that which node:crypto reads, with a version: %s', (hasVersion) => {
    const { pem } = newCertificate({ hasVersion });
    const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    expect(Buffer.from(publicKeyOf(`comment\n${pem}`) ?? [])).toEqual(key);
  });

  it('is absent from any part of a certificate, and never throws', () => {
    for (let size = 0; size < certificate.der.length; size += 1) {
      const cut = certificate.der.subarray(0, size).toString('base64');
      expect(publicKeyOf(`-----BEGIN CERTIFICATE-----\n${cut}\n-----END CERTIFICATE-----`)).toBeUndefined();
    }
    expect(publicKeyOf('')).toBeUndefined();
  });
});
