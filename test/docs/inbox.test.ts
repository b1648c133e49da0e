import * as crypto from 'node:crypto';
import { compileFunction } from 'node:vm';
import * as octokit from '@octokit/webhooks-methods';
import * as core from '@webhook-backpressure/core';
import { memoryStore, type InboxOptions } from '@webhook-backpressure/core';
import * as standardwebhooks from 'standardwebhooks';
import * as stripe from 'stripe';
import ts from 'typescript';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { resolveInboxOptions } from '../../packages/core/src/inbox/options/inbox-settings.ts';
import { InboxBench } from '../core/inbox/inbox-bench.ts';
import { codeIn, page, rowsOf, sectionOf, tokensOf } from './pages.ts';
import { coreFile, literalsOf, programOf, typeIn } from './typescript.ts';

const inbox = page('docs/inbox.md');
/** What the recipes import. Some of it cannot be required. */
const modules: Record<string, unknown> = {
  'node:crypto': crypto,
  '@webhook-backpressure/core': core,
  '@octokit/webhooks-methods': octokit,
  stripe,
  standardwebhooks,
};
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"id":"evt_1","event_id":"evt_1"}';
const now = (): string => String(Math.floor(Date.now() / 1000));
const hmac = (message: string): ReturnType<typeof crypto.createHmac> =>
  crypto.createHmac('sha256', SECRET).update(message);

/** The options that the code under a heading gives to webhookInbox. */
function optionsIn(heading: string): InboxOptions {
  const [block] = tokensOf('code', sectionOf(inbox, heading));
  const { outputText } = ts.transpileModule(block?.text ?? '', {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      esModuleInterop: true,
    },
  });
  let given: InboxOptions | undefined;
  const names = {
    require: (name: string) => modules[name],
    exports: {},
    Buffer,
    process: { env: { WEBHOOK_SECRET: SECRET } },
    store: memoryStore(),
    work: () => undefined,
    webhookInbox: (options: InboxOptions) => {
      given = options;
    },
  };
  (compileFunction(outputText, Object.keys(names)) as (...values: unknown[]) => void)(
    ...Object.values(names),
  );
  if (given === undefined) throw new Error(`${heading} makes no inbox`);
  return given;
}

/** What each sender really sends, signed by its own library where there is one. */
const senders: Record<
  string,
  {
    readonly id?: string;
    readonly body?: string;
    readonly headers: () => Promise<Record<string, string>>;
  }
> = {
  'Standard Webhooks, Svix': {
    id: 'msg_1',
    headers: () => {
      const at = new Date();
      const signature = new standardwebhooks.Webhook(SECRET).sign('msg_1', at, BODY);
      const time = String(Math.floor(at.getTime() / 1000));
      return Promise.resolve({
        'webhook-id': 'msg_1',
        'webhook-timestamp': time,
        'webhook-signature': signature,
      });
    },
  },
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
  'Verifiers that throw': {
    id: 'msg_1',
    headers: () => {
      const at = new Date();
      const signature = new standardwebhooks.Webhook(SECRET).sign('msg_1', at, BODY);
      const time = String(Math.floor(at.getTime() / 1000));
      return Promise.resolve({
        'webhook-id': 'msg_1',
        'webhook-timestamp': time,
        'webhook-signature': signature,
      });
    },
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
  HubSpot: {
    headers: () => {
      const time = String(Date.now());
      const signature = hmac(`POSThttps://shop.example/webhooks?shop=1${BODY}${time}`).digest('base64');
      return Promise.resolve({ 'x-hubspot-request-timestamp': time, 'x-hubspot-signature-v3': signature });
    },
  },
  Paddle: {
    id: 'evt_1',
    headers: () => {
      const signature = hmac(`${now()}:${BODY}`).digest('hex');
      return Promise.resolve({ 'paddle-signature': `ts=${now()};h1=${signature}` });
    },
  },
  Handshakes: {
    headers: () => {
      const time = now();
      const signature = `v0=${hmac(`v0:${time}:${BODY}`).digest('hex')}`;
      return Promise.resolve({ 'x-zm-request-timestamp': time, 'x-zm-signature': signature });
    },
  },
};

describe.each(Object.entries(senders))('the recipe for %s', (heading, { id, body = BODY, headers }) => {
  it('lets a genuine delivery in, once, and no other', async () => {
    const bench = new InboxBench(optionsIn(heading));
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
    expect(JSON.parse(again.body)).toEqual({ id, status: 'duplicate' });
  });
});

it('answers the handshake of Zoom', async () => {
  const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"t1"}}';
  const time = now();
  const signature = `v0=${hmac(`v0:${time}:${body}`).digest('hex')}`;
  const bench = new InboxBench(optionsIn('Handshakes'));
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

it('asks the sender for another try while its key is not to be had', async () => {
  const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const fetch = vi.fn<() => Promise<Response>>();
  vi.stubGlobal('fetch', fetch);
  const bench = new InboxBench(optionsIn('When verify cannot tell'));
  const signature = crypto.sign(null, Buffer.from(BODY), privateKey).toString('base64');
  const deliver = async (body: string): Promise<number> =>
    (await bench.deliver('a', body, { 'x-signature': signature })).status;
  fetch.mockRejectedValueOnce(new Error('no network'));
  expect(await deliver(BODY)).toBe(503);
  fetch.mockResolvedValueOnce(new Response('', { status: 500 }));
  expect(await deliver(BODY)).toBe(503);
  fetch.mockImplementation(() => Promise.resolve(new Response(pem)));
  expect([await deliver(`${BODY} `), await deliver(BODY)]).toEqual([401, 202]);
  vi.unstubAllGlobals();
});

it('lets a command of Slack in, which is a form', async () => {
  const body = 'command=%2Fdeploy&text=now';
  const time = now();
  const signature = `v0=${hmac(`v0:${time}:${body}`).digest('hex')}`;
  const headers = { 'x-slack-request-timestamp': time, 'x-slack-signature': signature };
  expect((await new InboxBench(optionsIn('Slack')).deliver(undefined, body, headers)).status).toBe(202);
});

describe('docs/inbox.md', () => {
  let program: ts.Program;
  beforeAll(() => {
    program = programOf([
      coreFile('inbox/options/inbox-options.ts'),
      coreFile('inbox/events/inbox-events.ts'),
    ]);
  }, 120_000);

  const rows = rowsOf(sectionOf(inbox, 'Options'), 'Option').map((row) => ({
    name: codeIn(row['Option'])[0] ?? '',
    default: codeIn(row['Default'])[0],
  }));

  it('has a row for every option that an intake has not, or that means something else', () => {
    const own = typeIn(program, coreFile('inbox/options/inbox-options.ts'), 'InboxOptions').getProperties();
    const inherited = new Set(
      [
        'highWaterMark',
        'lowWaterMark',
        'concurrency',
        'drainRate',
        'statusCode',
        'retryAfter',
        'shed',
      ].concat(['pressure', 'clock', 'random']),
    );
    const expected = own
      .map(({ name }) => name)
      .filter((name) => !inherited.has(name))
      .flatMap((name) =>
        name === 'retry' ? ['retry.attempts', 'retry.firstDelayMs', 'retry.maxDelayMs'] : [name],
      );
    expect(rows.map(({ name }) => name).sort()).toEqual(expected.sort());
  });

  it('says the defaults', () => {
    const { settings } = resolveInboxOptions({
      store: memoryStore(),
      process: () => undefined,
      verify: false,
    });
    const flat: Record<string, unknown> = {
      ...settings,
      capacity: settings.intake.capacity,
      maxHandlingMs: settings.intake.maxHandlingMs,
      ...Object.fromEntries(Object.entries(settings.retry).map(([name, value]) => [`retry.${name}`, value])),
    };
    const said = rows.filter(({ name }) => ['number', 'string'].includes(typeof flat[name]));
    expect(said).toHaveLength(14);
    for (const { name, default: shown } of said) {
      const value = flat[name];
      expect(`${name} ${String(shown)}`).toBe(
        `${name} ${typeof value === 'string' ? `'${value}'` : String(value)}`,
      );
    }
  });

  it('names every event', () => {
    const union = typeIn(program, coreFile('inbox/events/inbox-events.ts'), 'InboxEvent') as ts.UnionType;
    const checker = program.getTypeChecker();
    const names = union.types.flatMap((event) => {
      const type = event.getProperty('type');
      return type === undefined ? [] : literalsOf(checker.getTypeOfSymbol(type));
    });
    expect(names.length).toBeGreaterThan(15);
    expect(codeIn(inbox.source.split('## Watch')[1] ?? '')).toEqual(
      expect.arrayContaining([...new Set(names)]),
    );
  });
});
