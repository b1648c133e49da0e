import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { type Verifier, verifiers } from '@webhook-backpressure/inbox';
import { expect, it } from 'vitest';
import { BASE, base64, BODY, FORM, hex, hmac, NOW, SECONDS, SECRET, type Sent } from './cases/signed.ts';
import { statusOf } from './signed-deliveries.ts';

const options = { secret: SECRET, wallClock: () => NOW };
const TIME = new Date(NOW).toISOString();
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = publicKey.export({ type: 'spki', format: 'pem' });

type Sign = (...headers: string[]) => Record<string, string>;

const twitchBody = `{"at":"${TIME}","b":1}`;
const byTwitch: Sign = (id = '', time = '') => ({
  'twitch-eventsub-message-id': id,
  'twitch-eventsub-message-timestamp': time,
  'twitch-eventsub-message-signature': `sha256=${hex(SECRET, `evt_1${TIME}${twitchBody}`)}`,
});
const bySquare: Sign = () => ({
  'x-square-hmacsha256-signature': base64(SECRET, `${BASE}/hooks?x=${BODY}`),
});
const bySendGrid: Sign = (time = '') => ({
  'x-twilio-email-event-webhook-timestamp': time,
  'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(SECONDS + BODY), privateKey).toString(
    'base64',
  ),
});
const standardBody = `name=x.${SECONDS}.amount=5`;
const byStandard: Sign = (id = '') => {
  const key = Buffer.from(SECRET.slice(6), 'base64');
  const signature = hmac(key, `msg_1.${SECONDS}.${standardBody}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': SECONDS, 'webhook-signature': `v1,${signature}` };
};
const hook0Names = 'x-event-id x-event-type';
const hook0Text = `${SECONDS}.${hook0Names}.e1.user.created.${BODY}`;
const byHook0 = { 'x-hook0-signature': `t=${SECONDS},h=${hook0Names},v1=${hex(SECRET, hook0Text)}` };
const hash = createHash('sha256').update('{}').digest('hex');
const twilioUrl = '/sms?a=1';
const byTwilio: Sign = (type = '') => ({
  'content-type': type,
  'x-twilio-signature': hmac(SECRET, `${BASE}${twilioUrl}Body&bodySHA256=${hash}&From+1To+2`, 'sha1').digest(
    'base64',
  ),
});
const twilioForm = new URLSearchParams({ Body: `&bodySHA256=${hash}&`, From: '+1', To: '+2' }).toString();

const rows: readonly (readonly [string, Verifier, genuine: Sent, moved: Sent])[] = [
  [
    'the timestamp and body in the id of Twitch',
    verifiers.twitch(options),
    { body: twitchBody, headers: byTwitch('evt_1', TIME) },
    { body: '","b":1}', headers: byTwitch(`evt_1${TIME}{"at":"`, TIME) },
  ],
  [
    'the body in the URL of Square',
    verifiers.square({ secret: SECRET, baseUrl: BASE }),
    { body: BODY, url: '/hooks?x=', headers: bySquare() },
    { body: '', url: `/hooks?x=${BODY}`, headers: bySquare() },
  ],
  [
    'a part of the body in the URL of Square',
    verifiers.square({ secret: SECRET, baseUrl: BASE }),
    { body: BODY, url: '/hooks?x=', headers: bySquare() },
    { body: BODY.slice(1), url: `/hooks?x=${BODY.slice(0, 1)}`, headers: bySquare() },
  ],
  [
    'a digit of the timestamp in the body of SendGrid',
    verifiers.sendgridEvents({ publicKey: pem }),
    { body: BODY, headers: bySendGrid(SECONDS) },
    { body: `0${BODY}`, headers: bySendGrid(SECONDS.slice(0, -1)) },
  ],
  [
    'the timestamp in the body of Convoy',
    verifiers.convoy(options),
    { body: BODY, headers: { 'x-convoy-signature': `t=${SECONDS},v1=${hex(SECRET, `${SECONDS},${BODY}`)}` } },
    {
      body: `${SECONDS},${BODY}`,
      headers: { 'x-convoy-signature': hex(SECRET, `${SECONDS},${BODY}`) },
    },
  ],
  [
    'the timestamp and body in the id of Standard Webhooks',
    verifiers.standardWebhooks(options),
    { body: standardBody, headers: byStandard('msg_1') },
    { body: 'amount=5', headers: byStandard(`msg_1.${SECONDS}.name=x`) },
  ],
  [
    'the value of a missing header in another of Hook0',
    verifiers.hook0(options),
    { body: BODY, headers: { ...byHook0, 'x-event-id': 'e1', 'x-event-type': 'user.created' } },
    { body: BODY, headers: { ...byHook0, 'x-event-id': 'e1.user.created' } },
  ],
  [
    'a field of a form in the URL of Twilio, as the hash of another body',
    verifiers.twilio({ secret: SECRET, baseUrl: BASE }),
    { body: twilioForm, url: twilioUrl, headers: byTwilio(FORM) },
    {
      body: '{}',
      url: `${twilioUrl}Body&bodySHA256=${hash}&From+1To+2`,
      headers: byTwilio('application/json'),
    },
  ],
];

it.each(rows)('rejects signed bytes in another part: %s', async (_, verify, genuine, moved) => {
  expect(await statusOf(verify, genuine)).toBe(200);
  expect(await statusOf(verify, moved)).toBe(401);
});
