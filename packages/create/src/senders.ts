/** A variable of the environment that the server reads. */
export interface Variable {
  readonly name: string;
  /** What the user sets it to. */
  readonly meaning: string;
  /** For the first start on this machine. `{random}` is replaced by a secret. */
  readonly local: string;
}

/** How the server of a sender verifies, and how its test and `npm run fire` sign. */
export interface Sender {
  /** The expression for `verify`. */
  readonly verify: string;
  readonly variables: readonly Variable[];
  /** The name of the sender that `fire` sends as. */
  readonly as: string;
  /** With what `fire` signs: the secret, a key pair that it makes, or nothing, if it cannot sign for this sender. */
  readonly signed: 'secret' | 'keyPair' | 'never';
  /** The header that contains the secret itself, if nothing is signed. */
  readonly token?: string;
  /** Functions that `verify` uses, and the import that they need. */
  readonly code?: string;
  readonly imports?: string;
}

const SECRET: Variable = {
  name: 'WEBHOOK_SECRET',
  meaning: 'The secret of the webhook, as the sender shows it.',
  local: '{random}',
};
const BASE_URL: Variable = {
  name: 'BASE_URL',
  meaning: 'The scheme and host that the sender calls: it signs the URL.',
  local: 'http://localhost:3000',
};
/** These are the keys that `fire --secret local` makes. */
const publicKey = (local: string): Variable => ({
  name: 'WEBHOOK_PUBLIC_KEY',
  meaning: 'The public key of the sender. The one in .env is that of `npm run fire`: replace it.',
  local,
});
const ED25519 = publicKey('73778bab713922c6fb47f1898442d6e6ebfb80fd9a03e15ad0360b99a837e433');
const P256 = publicKey(
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEADZDN9JafdjzFJn53aKqUzydl0niKo6+QuJ82dehfVUAE9t2GDjxHut6cFVc7aMVDYMkyzDQuoSY6/8i6UUy1g==',
);

type Row = Partial<Omit<Sender, 'verify'>> & { readonly options: string };

/** The senders that sign with one secret. */
const BY_SECRET = [
  ...['asana', 'bitbucket', 'calendly', 'convoy', 'docusign', 'gitea', 'github', 'hook0', 'hookdeck'],
  ...['intercom', 'jira', 'kit', 'line', 'linear', 'merge', 'meta', 'nmi', 'outpost', 'paddle', 'pagerduty'],
  ...['quickbooks', 'razorpay', 'recurly', 'sanity', 'sentry', 'shopify', 'slack', 'standard-webhooks'],
  ...['stripe', 'svix', 'twitch', 'typeform', 'woocommerce', 'zendesk', 'zoom'],
];

const withSecret: Row = { options: 'secret: WEBHOOK_SECRET' };
const withUrl: Row = {
  options: 'secret: WEBHOOK_SECRET, baseUrl: BASE_URL',
  variables: [SECRET, BASE_URL],
};
const withKey: Row = {
  options: 'publicKey: WEBHOOK_PUBLIC_KEY',
  variables: [ED25519],
  signed: 'keyPair',
};
/** They sign in the body, or with a key that only they have. */
const unsigned = { signed: 'never' } as const;

/** The others, by the names of `fire --as`. */
const ROWS: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(BY_SECRET.map((name) => [name, withSecret])),
  hubspot: withUrl,
  square: withUrl,
  twilio: withUrl,
  gitlab: { ...withSecret, token: 'x-gitlab-token' },
  telegram: { ...withSecret, token: 'x-telegram-bot-api-secret-token' },
  discord: withKey,
  highlevel: withKey,
  'sendgrid-events': { ...withKey, variables: [P256] },
  adyen: { ...withSecret, ...unsigned },
  braintree: { ...withSecret, ...unsigned },
  mailgun: { ...withSecret, ...unsigned },
  'aws-sns': {
    ...unsigned,
    options: 'topicArn: TOPIC_ARN, fetch',
    variables: [
      {
        name: 'TOPIC_ARN',
        meaning: 'The topic: anyone with an AWS account can send messages of others.',
        local: 'arn:aws:sns:eu-west-1:123456789012:orders',
      },
    ],
  },
  paypal: {
    ...unsigned,
    options: 'webhookId: WEBHOOK_ID, fetch',
    variables: [{ name: 'WEBHOOK_ID', meaning: 'The id of the webhook.', local: '8PT597110X687430LKGECATA' }],
  },
  plaid: {
    ...unsigned,
    options: 'getKey',
    variables: [
      { name: 'PLAID_URL', meaning: 'The API of Plaid.', local: 'https://sandbox.plaid.com' },
      { name: 'PLAID_CLIENT_ID', meaning: 'The client id of the account.', local: 'replace-me' },
      { name: 'PLAID_SECRET', meaning: 'The secret of the account.', local: 'replace-me' },
    ],
    code: `
/** @param {string} keyId */
async function getKey(keyId) {
  const response = await fetch(\`\${PLAID_URL}/webhook_verification_key/get\`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_id: PLAID_CLIENT_ID, secret: PLAID_SECRET, key_id: keyId }),
    signal: AbortSignal.timeout(5000),
  });
  // The answer is then 503, and Plaid retries.
  if (!response.ok) throw new Error(\`Plaid answered \${response.status}.\`);
  return (await response.json()).key;
}
`,
  },
  'http-signatures': {
    ...unsigned,
    as: 'unknown',
    options: `algorithm: 'ed25519', key: WEBHOOK_PUBLIC_KEY, baseUrl: BASE_URL`,
    variables: [ED25519, BASE_URL],
  },
};

/** A sender without a ready-made verifier. The first form of `verify` is that of GitHub, so that it runs. */
const OTHER: Sender = {
  verify: 'signedWith(WEBHOOK_SECRET)',
  variables: [SECRET],
  as: 'github',
  signed: 'secret',
  imports: `import { createHmac, timingSafeEqual } from 'node:crypto';`,
  code: `
/**
 * REPLACE THIS by the scheme of your sender: what it signs, and in which header. As it is, the header x-hub-signature-256
 * has "sha256=" and the HMAC of the raw body. Only \`true\` accepts a delivery; false or an error answers 401.
 *
 * @param {string | undefined} secret
 */
function signedWith(secret) {
  if (!secret) throw new Error('WEBHOOK_SECRET is not set.');
  return ({ headers, rawBody }) => {
    const expected = Buffer.from(\`sha256=\${createHmac('sha256', secret).update(rawBody).digest('hex')}\`);
    const given = Buffer.from(headers['x-hub-signature-256'] ?? '');
    return expected.byteLength === given.byteLength && timingSafeEqual(expected, given);
  };
}
`,
};

/** All senders that can be chosen, by the names of `fire --as`. */
export const SENDERS: ReadonlyMap<string, Sender> = new Map([
  ...Object.keys(ROWS)
    .sort()
    .map((name): [string, Sender] => [name, senderOf(name, ROWS[name] as Row)]),
  ['other', OTHER],
]);

function senderOf(name: string, { options, ...row }: Row): Sender {
  const verifier = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    as: name,
    variables: [SECRET],
    signed: 'secret',
    ...row,
    verify: `verifiers.${verifier}({ ${options} })`,
  };
}
