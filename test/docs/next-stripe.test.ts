import type { Inbox } from '@webhook-backpressure/inbox';
import * as node from '@webhook-backpressure/node';
import * as nodeInbox from '@webhook-backpressure/node/inbox';
import * as observe from '@webhook-backpressure/observe';
import * as webInbox from '@webhook-backpressure/web/inbox';
import { Stripe } from 'stripe';
import { afterAll, expect, it, vi } from 'vitest';
import { MemoryState, MemoryStore } from '../core/inbox/shared-memory.ts';
import { page, sectionOf, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const blocks = tokensOf('code', sectionOf(page('docs/web.md'), 'Next.js with Stripe, end to end'));

/** The code of a file of the section. */
function fileNamed(name: string): string {
  const found = blocks.find(({ text }) => text.startsWith(`// ${name}\n`));
  if (found === undefined) throw new Error(`The section has no ${name}.`);
  return found.text;
}

const state = new MemoryState();
const handled: unknown[] = [];
const modules = {
  '@webhook-backpressure/node': { ...node, closeOnSignals: () => undefined },
  '@webhook-backpressure/node/inbox': nodeInbox,
  '@webhook-backpressure/observe': observe,
  '@webhook-backpressure/postgres': { postgresStore: () => new MemoryStore(state) },
  '@webhook-backpressure/web/inbox': webInbox,
};
const names = {
  globalThis: {},
  process: { env: { STRIPE_WEBHOOK_SECRET: SECRET, DATABASE_URL: 'postgres://localhost/app' } },
  console: {
    ...{ info: () => undefined, warn: () => undefined, error: () => undefined },
    log: (...words: unknown[]) => handled.push(words),
  },
};

const lib = runBlock(fileNamed('lib/stripe-inbox.ts'), modules, names, 'exports') as {
  stripeInbox: { inbox: Inbox };
};
const route = { '../../../../lib/stripe-inbox': lib };
const post = runBlock(fileNamed('app/api/webhooks/stripe/route.ts'), route, {}, 'exports.POST') as (
  request: Request,
) => Promise<Response>;
const opened: Pick<Inbox, 'close'>[] = [lib.stripeInbox.inbox];

afterAll(() => Promise.all(opened.map((one) => one.close({ timeoutMs: 0 }))));

function requestOf(body: string, secret: string): Request {
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret });
  return new Request('http://localhost:3000/api/webhooks/stripe', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': header },
    body,
  });
}

it('acknowledges an event of Stripe, and handles it once although it arrives twice', async () => {
  const paid = '{"id":"evt_1","type":"checkout.session.completed","data":{"object":{"id":"cs_1"}}}';
  const other = '{"id":"evt_2","type":"invoice.paid","data":{"object":{"id":"in_1"}}}';
  const answers: unknown[] = [];
  for (const event of [paid, paid, other]) {
    const answer = await post(requestOf(event, SECRET));
    answers.push([answer.status, await answer.json()]);
  }
  expect(answers).toEqual([
    [202, { id: 'evt_1', status: 'accepted' }],
    [202, { id: 'evt_1', status: 'duplicate' }],
    [202, { id: 'evt_2', status: 'accepted' }],
  ]);
  opened.push(runBlock(fileNamed('worker.mjs'), modules, names, 'worker') as Inbox);
  await vi.waitUntil(() => handled.length >= 2);
  expect(handled).toEqual([
    ['evt_1', 'checkout.session.completed', 'cs_1'],
    ['evt_2', 'invoice.paid', 'in_1'],
  ]);
});

it('answers 401 to an event that is signed with another secret', async () => {
  expect((await post(requestOf('{"id":"evt_3"}', `${SECRET}x`))).status).toBe(401);
});
