import * as crypto from 'node:crypto';
import { join } from 'node:path';
import * as octokit from '@octokit/webhooks-methods';
import * as adapter from '@webhook-backpressure/express';
import * as inboxAdapter from '@webhook-backpressure/express/inbox';
import { type InboxOptions, memoryStore } from '@webhook-backpressure/express/inbox';
import * as standardwebhooks from 'standardwebhooks';
import * as stripe from 'stripe';
import { describe, expect, it, vi } from 'vitest';
import { root } from '../../tooling/packages.js';
import { InboxBench } from '../core/inbox/inbox-bench.ts';
import { codeIn, page, rowsOf, sectionOf, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';
import { problemsIn, programOf } from './typescript.ts';

const inbox = page('docs/inbox.md');
/** What the recipes import. Some of it cannot be required. */
const modules: Record<string, unknown> = {
  'node:crypto': crypto,
  '@webhook-backpressure/express': adapter,
  '@webhook-backpressure/express/inbox': inboxAdapter,
  '@octokit/webhooks-methods': octokit,
  stripe,
  standardwebhooks,
};
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"id":"evt_1","event_id":"evt_1"}';
const now = (): string => String(Math.floor(Date.now() / 1000));
const hmac = (message: string): ReturnType<typeof crypto.createHmac> =>
  crypto.createHmac('sha256', SECRET).update(message);

/** The options that this code passes to webhookInbox. */
function optionsFrom(code: string, title: string): InboxOptions {
  let given: InboxOptions | undefined;
  runBlock(code, modules, {
    Buffer,
    process: { env: { WEBHOOK_SECRET: SECRET } },
    store: memoryStore(),
    work: () => undefined,
    webhookInbox: (options: InboxOptions) => {
      given = options;
    },
  });
  if (given === undefined) throw new Error(`${title} makes no inbox`);
  return given;
}

function optionsUnder(heading: string): InboxOptions {
  const [block] = tokensOf('code', sectionOf(inbox, heading));
  return optionsFrom(block?.text ?? '', heading);
}

/** The table of verifiers, each row as a program that uses its cells. */
const programs = new Map(
  rowsOf(sectionOf(inbox, 'Ready-made verifiers'), 'Sender').map((row) => {
    const [verify = ''] = codeIn(row['`verify`']);
    const code = [
      "import { verifiers } from '@webhook-backpressure/express/inbox';",
      "const secret = process.env['WEBHOOK_SECRET'];",
      "const publicKey = process.env['PUBLIC_KEY'];",
      'const getKey = (keyId: string): unknown => keyId;',
      `webhookInbox({ store, process: work, verify: ${verify} });`,
    ].join('\n');
    return [row['Sender'] ?? '', code] as const;
  }),
);

function standardWebhooksHeaders(): Promise<Record<string, string>> {
  const at = new Date();
  return Promise.resolve({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new standardwebhooks.Webhook(SECRET).sign('msg_1', at, BODY),
  });
}

interface Genuine {
  readonly id?: string;
  readonly body?: string;
  readonly headers: () => Promise<Record<string, string>>;
}

/** What each sender of the table really sends, signed by its own library where there is one. */
const senders: Record<string, Genuine> = {
  'Standard Webhooks, Svix': { id: 'msg_1', headers: standardWebhooksHeaders },
  Stripe: {
    id: 'evt_1',
    headers: () => {
      const header = stripe.default.webhooks.generateTestHeaderString({ payload: BODY, secret: SECRET });
      return Promise.resolve({ 'stripe-signature': header });
    },
  },
  GitHub: {
    id: 'guid-1',
    headers: async () => ({
      'x-github-event': 'push',
      'x-github-delivery': 'guid-1',
      'x-hub-signature-256': await octokit.sign(SECRET, BODY),
    }),
  },
  Slack: {
    id: 'evt_1',
    headers: () => {
      const time = now();
      const signature = `v0=${hmac(`v0:${time}:${BODY}`).digest('hex')}`;
      return Promise.resolve({ 'x-slack-request-timestamp': time, 'x-slack-signature': signature });
    },
  },
  Shopify: {
    id: 'delivery-1',
    headers: () =>
      Promise.resolve({
        'x-shopify-topic': 'orders/create',
        'x-shopify-webhook-id': 'delivery-1',
        'x-shopify-hmac-sha256': hmac(BODY).digest('base64'),
      }),
  },
  Twilio: {
    body: 'a=b',
    headers: () =>
      Promise.resolve({
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': crypto
          .createHmac('sha1', SECRET)
          .update('https://shop.example/webhooks?shop=1ab')
          .digest('base64'),
      }),
  },
  'HubSpot, version 3': {
    headers: () => {
      const time = String(Date.now());
      const signature = hmac(`POSThttps://shop.example/webhooks?shop=1${BODY}${time}`).digest('base64');
      return Promise.resolve({ 'x-hubspot-request-timestamp': time, 'x-hubspot-signature-v3': signature });
    },
  },
  'Paddle Billing': {
    id: 'evt_1',
    headers: () => {
      const signature = hmac(`${now()}:${BODY}`).digest('hex');
      return Promise.resolve({ 'paddle-signature': `ts=${now()};h1=${signature}` });
    },
  },
};

/** The same for the code blocks under headings. */
const blocks: Record<string, Genuine> = {
  'Libraries that throw': { id: 'msg_1', headers: standardWebhooksHeaders },
  Handshakes: {
    headers: () => {
      const time = now();
      const signature = `v0=${hmac(`v0:${time}:${BODY}`).digest('hex')}`;
      return Promise.resolve({ 'x-zm-request-timestamp': time, 'x-zm-signature': signature });
    },
  },
};

const recipes = [
  ...Object.entries(senders).map(([sender, genuine]) => ({
    title: sender,
    genuine,
    options: () => optionsFrom(programs.get(sender) ?? '', sender),
  })),
  ...Object.entries(blocks).map(([heading, genuine]) => ({
    title: heading,
    genuine,
    options: () => optionsUnder(heading),
  })),
];

describe('the table of verifiers', () => {
  it('has the senders whose programs run here', () => {
    expect([...programs.keys()]).toEqual(expect.arrayContaining(Object.keys(senders)));
  });

  it('has every ready-made verifier', () => {
    const used = [...programs.values()].map((code) => /verifiers\.(\w+)/.exec(code)?.[1]);
    // `svix` is another name for `standardWebhooks`.
    expect([...new Set(used), 'svix'].sort()).toEqual(Object.keys(inboxAdapter.verifiers).sort());
  });

  it('has only code that compiles', () => {
    const files = new Map(
      [...programs.values()].map(
        (code, row) => [join(root, `test/docs/verifiers/${String(row)}.ts`), code] as const,
      ),
    );
    const program = programOf([join(import.meta.dirname, 'preamble.ts')], files);
    expect([...files.keys()].flatMap((file) => problemsIn(program, file))).toEqual([]);
  }, 120_000);
});

describe.each(recipes)('the recipe for $title', ({ genuine: { id, body = BODY, headers }, options }) => {
  it('accepts a genuine delivery once, and rejects forged ones', async () => {
    const bench = new InboxBench(options());
    const genuine = await headers();
    expect((await bench.deliver(undefined, `${body} `, genuine)).status).toBe(401);
    expect((await bench.deliver(undefined, body, {})).status).toBe(401);
    for (const name of Object.keys(genuine)) {
      if (!/signature|hmac|sig$/.test(name)) continue;
      const forged = { ...genuine, [name]: `${genuine[name] ?? ''}x` };
      expect((await bench.deliver(undefined, body, forged)).status).toBe(401);
    }
    expect(bench.inbox.snapshot().depth).toBe(0);

    expect([200, 202]).toContain((await bench.deliver(undefined, body, genuine)).status);
    expect(bench.inbox.snapshot().totals.stored).toBe(1);
    if (id === undefined) return;
    const again = await bench.deliver(undefined, body, genuine);
    // Without a body for senders whose profile names the status that they accept.
    expect(['', JSON.stringify({ id, status: 'duplicate' })]).toContain(again.body);
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 1 });
  });
});

it('answers the handshake of Zoom', async () => {
  const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"t1"}}';
  const time = now();
  const signature = `v0=${hmac(`v0:${time}:${body}`).digest('hex')}`;
  const bench = new InboxBench(optionsUnder('Handshakes'));
  const answer = await bench.deliver(undefined, body, {
    'x-zm-request-timestamp': time,
    'x-zm-signature': signature,
  });
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    200,
    { plainToken: 't1', encryptedToken: hmac('t1').digest('hex') },
  ]);
  expect(bench.inbox.snapshot().depth).toBe(0);
});

it('answers 503 while the public key is unavailable', async () => {
  const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const fetch = vi.fn<() => Promise<Response>>();
  vi.stubGlobal('fetch', fetch);
  const bench = new InboxBench(optionsUnder('Unavailable keys'));
  const signature = crypto.sign(null, Buffer.from(BODY), privateKey).toString('base64');
  const deliver = async (body: string): Promise<number> =>
    (await bench.deliver('a', body, { 'x-signature': signature })).status;
  fetch.mockRejectedValueOnce(new Error('no network'));
  expect(await deliver(BODY)).toBe(503);
  fetch.mockResolvedValueOnce(new Response('', { status: 500 }));
  expect(await deliver(BODY)).toBe(503);
  fetch.mockImplementation(() => Promise.resolve(new Response(pem)));
  expect([await deliver(`${BODY} `), await deliver(BODY)]).toEqual([401, 200]);
  vi.unstubAllGlobals();
});

it('accepts a Slack command, which is a form', async () => {
  const body = 'command=%2Fdeploy&text=now';
  const time = now();
  const signature = `v0=${hmac(`v0:${time}:${body}`).digest('hex')}`;
  const headers = { 'x-slack-request-timestamp': time, 'x-slack-signature': signature };
  const bench = new InboxBench(optionsFrom(programs.get('Slack') ?? '', 'Slack'));
  expect((await bench.deliver(undefined, body, headers)).status).toBe(202);
});
