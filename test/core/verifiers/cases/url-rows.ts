import { withHeaders } from './hmac-rows.ts';
import { BASE, base64, BODY, FORM, hmac, type Row } from './signed.ts';

/** Senders that sign the URL. */
export const URL_ROWS: readonly Row[] = [
  {
    verifier: 'hubspot',
    against: '`@hubspot/api-client` 13.5.0',
    header: 'x-hubspot-signature-v3',
    more: { baseUrl: BASE },
    toleranceMs: 300_000,
    sent: withHeaders(
      (secret, _, nowMs) => ({
        'x-hubspot-request-timestamp': String(nowMs),
        'x-hubspot-signature-v3': base64(secret, `POST${BASE}/hooks?shop=1${BODY}${String(nowMs)}`),
      }),
      { url: '/hooks?shop=1' },
    ),
  },
  {
    verifier: 'square',
    against: '`square` 46.0.0',
    header: 'x-square-hmacsha256-signature',
    more: { baseUrl: BASE },
    sent: withHeaders(
      (secret) => ({ 'x-square-hmacsha256-signature': base64(secret, `${BASE}/hooks?a=1${BODY}`) }),
      { url: '/hooks?a=1' },
    ),
    id: ['evt_1', 'square'],
  },
  {
    verifier: 'twilio',
    against: '`twilio` 6.3.1',
    header: 'x-twilio-signature',
    more: { baseUrl: BASE },
    sent: (secret) => ({
      body: 'To=%2B1800&Body=a+b',
      url: '/sms?shop=1',
      headers: {
        'content-type': FORM,
        'x-twilio-signature': hmac(secret, `${BASE}/sms?shop=1Bodya bTo+1800`, 'sha1').digest('base64'),
      },
    }),
  },
];
