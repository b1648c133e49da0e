import type { Server } from 'node:http';
import { Octokit } from '@octokit/rest';
import Stripe from 'stripe';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryStore } from '@webhook-backpressure/inbox';
import { github, reconcile, stripe } from '@webhook-backpressure/reconcile';
import { webhookInbox } from '@webhook-backpressure/web/inbox';
import { FakeGitHub } from './fake-github.ts';
import { FakeStripe } from './fake-stripe.ts';
import { serve } from './serve.ts';

const servers: Server[] = [];
const quiet = (): void => undefined;

async function served(fake: { fetch: typeof globalThis.fetch }): Promise<string> {
  const { server, url } = await serve(fake.fetch);
  servers.push(server);
  return url;
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Runs once on sockets, with the clock of the system. */
async function runOnce(
  source: ReturnType<typeof github>,
): Promise<{ ids: string[]; error: string | undefined }> {
  const ids: string[] = [];
  const { inbox } = webhookInbox({
    store: memoryStore(),
    verify: false,
    process: ({ id }) => void ids.push(id),
  });
  const reconciler = reconcile({ inbox, source });
  const { error } = await reconciler.run();
  await inbox.close();
  await reconciler.close();
  return { ids: ids.sort(), error };
}

describe("the fake of GitHub's API, and GitHub's own client", () => {
  const repo = { owner: 'acme', repo: 'shop', hook_id: 42 };

  it('lists all deliveries, page by page, and finds the same missed ones as github()', async () => {
    const fake = new FakeGitHub({ wallMs: Date.now });
    for (let at = 0; at < 230; at += 1) await fake.happen('push', { at }, at % 60 === 0 ? 502 : 200);
    const baseUrl = await served(fake);
    const octokit = new Octokit({ auth: fake.token, baseUrl });
    const all = await octokit.paginate(octokit.rest.repos.listWebhookDeliveries, { ...repo, per_page: 100 });
    expect(all).toHaveLength(230);
    const missed = all.filter(({ status_code: status }) => status >= 300).map(({ guid }) => guid);
    const source = github({ token: fake.token, hook: '/repos/acme/shop/hooks/42', baseUrl });
    expect(await runOnce(source)).toEqual({ ids: missed.sort(), error: undefined });
  });

  it('gets and redelivers a delivery', async () => {
    const fake = new FakeGitHub({ wallMs: Date.now });
    const { guid, id } = await fake.happen('push', { text: 'ü' }, 502);
    // The client reads ids as numbers.
    fake.attempts[0] = { ...(fake.attempts[0] as (typeof fake.attempts)[0]), id: '12345' };
    const octokit = new Octokit({ auth: fake.token, baseUrl: await served(fake) });
    const one = { ...repo, delivery_id: 12_345 };
    const { data } = await octokit.rest.repos.getWebhookDelivery(one);
    expect(data).toMatchObject({
      guid,
      request: { payload: { text: 'ü' }, headers: { 'x-github-delivery': guid } },
    });
    expect((await octokit.rest.repos.redeliverWebhookDelivery(one)).status).toBe(202);
    expect(fake.attempts).toMatchObject([{ guid, redelivery: true }, { guid }]);
    expect(id).toMatch(/^\d{18}$/);
  });

  it('rejects a wrong token as the client expects', async () => {
    const baseUrl = await served(new FakeGitHub({ wallMs: Date.now }));
    const octokit = new Octokit({
      auth: 'other',
      baseUrl,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
    await expect(octokit.rest.repos.listWebhookDeliveries(repo)).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('Bad credentials') as string,
    });
  });
});

describe("the fake of Stripe's API, and Stripe's own client", () => {
  it('lists undelivered events, page by page, and finds the same as stripe()', async () => {
    const fake = new FakeStripe(Date.now);
    for (let at = 0; at < 120; at += 1) {
      const { id } = fake.happen(at % 2 === 0 ? 'invoice.paid' : 'charge.failed', { at });
      if (at % 3 === 0) fake.delivered.add(id);
    }
    const baseUrl = await served(fake);
    const { port } = new URL(baseUrl);
    const client = new Stripe(fake.key, {
      host: '127.0.0.1',
      port: Number(port),
      protocol: 'http',
      telemetry: false,
    });
    const ids: string[] = [];
    const query = { delivery_success: false, limit: 30, types: ['invoice.paid'] };
    for await (const { id, object } of client.events.list(query)) {
      expect(object).toBe('event');
      ids.push(id);
    }
    expect(ids).toHaveLength(40);
    const source = stripe({ secretKey: fake.key, types: ['invoice.paid'], baseUrl });
    expect(await runOnce(source)).toEqual({ ids: ids.sort(), error: undefined });
  });

  it('rejects a wrong key as the client expects', async () => {
    const { port } = new URL(await served(new FakeStripe(Date.now)));
    const client = new Stripe('sk_other', {
      host: '127.0.0.1',
      port: Number(port),
      protocol: 'http',
      telemetry: false,
    });
    await expect(client.events.list()).rejects.toBeInstanceOf(Stripe.errors.StripeAuthenticationError);
  });
});
