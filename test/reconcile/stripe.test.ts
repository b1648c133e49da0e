import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifiers } from '@webhook-backpressure/inbox';
import { stripe } from '@webhook-backpressure/reconcile';
import Stripe from 'stripe';
import { ReconcileBed } from './bed.ts';
import { FakeStripe, type StripeEvent } from './fake-stripe.ts';

const SECRET = 'whsec_test';
const DAY_MS = 86_400_000;

let bed: ReconcileBed;
let api: FakeStripe;

beforeEach(() => {
  bed = new ReconcileBed({
    verify: verifiers.stripe({ secret: SECRET, wallClock: () => bed.wallMs }),
  });
  api = new FakeStripe(() => bed.wallMs);
});
afterEach(() => bed.close());

/** Delivers an event, as Stripe does. */
function deliver(event: StripeEvent): Promise<number> {
  const payload = JSON.stringify(event, null, 2);
  const timestamp = Math.floor(bed.wallMs / 1000);
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });
  api.delivered.add(event.id);
  return bed.receive(
    new Request('https://receiver.example/', {
      method: 'POST',
      body: payload,
      headers: { 'stripe-signature': signature },
    }),
  );
}

const source = (more: Partial<Parameters<typeof stripe>[0]> = {}) =>
  stripe({ secretKey: 'sk_test_1', ...more });

describe('stripe()', () => {
  it('adds what was not delivered, with the id, the key and the bytes of a delivery', async () => {
    const delivered = api.happen('invoice.paid', { amount: 1 });
    expect(await deliver(delivered)).toBeLessThan(300);
    const missed = api.happen('invoice.paid', { amount: 2, name: 'Zoë' });
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    await bed.until(() => bed.handled.length === 2);
    expect(result).toMatchObject({ found: 1, missed: 1, added: 1, requests: 1, error: undefined });
    const [received, added] = bed.handled;
    expect(added).toMatchObject({ id: missed.id, key: received?.key, sender: received?.sender });
    expect(added?.text()).toBe(JSON.stringify(missed, null, 2));
    // Stripe's own retry comes later, and is a duplicate.
    await deliver(missed);
    await bed.pass(60_000);
    expect(bed.ids).toEqual([delivered.id, missed.id]);
    expect(bed.bench.inbox.snapshot().totals).toMatchObject({ duplicate: 1, conflict: 0 });
  });

  it('adds no event that was delivered to this inbox, and not to another endpoint', async () => {
    const event = api.happen('invoice.paid');
    await deliver(event);
    api.delivered.delete(event.id);
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    expect(result).toMatchObject({ found: 1, missed: 0, added: 0 });
    expect(bed.bench.inbox.snapshot().totals.duplicate).toBe(0);
  });

  it('reads page by page, and asks for the types of the endpoint', async () => {
    for (let at = 0; at < 450; at += 1) api.happen(at % 2 === 0 ? 'invoice.paid' : 'charge.failed');
    const types = source({ types: ['invoice.paid', 'invoice.voided'] });
    const result = await bed.result(bed.start({ source: types, fetch: api.fetch }).run());
    expect(result).toMatchObject({ found: 225, added: 225, requests: 3 });
    const from = String(Math.floor(result.since.getTime() / 1000));
    const query = `delivery_success=false&limit=100&created[gte]=${from}&types[]=invoice.paid&types[]=invoice.voided`;
    expect(api.calls.slice(0, 2)).toEqual([
      `GET /v1/events?${query}`,
      `GET /v1/events?${query}&starting_after=evt_000250`,
    ]);
  });

  it('leaves out events that are older than the ids that the inbox remembers', async () => {
    api.happen('invoice.paid');
    bed.bench.wallOffsetMs += 7 * DAY_MS - 60_000;
    const young = api.happen('invoice.paid');
    bed.bench.wallOffsetMs += 120_000;
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    await bed.until(() => bed.handled.length === 1);
    expect(result).toMatchObject({ found: 1, added: 1 });
    expect(bed.ids).toEqual([young.id]);
  });

  it.each([
    ['an empty page with more behind it', { data: [], has_more: true }, undefined],
    [
      'the same page again and again',
      { data: [{ id: 'evt_1', created: 1 }], has_more: true },
      /same page again/,
    ],
    ['an event without an id', { data: [{ created: 1 }], has_more: false }, /no id or created/],
    ['no data', { object: 'list' }, /no data/],
    ['a list', [], /no data/],
  ])('ends the run for %s', async (_, page, error) => {
    api.trouble = () => new Response(JSON.stringify(page));
    const result = await bed.result(bed.start({ source: source(), fetch: api.fetch }).run());
    expect(result.requests).toBeLessThanOrEqual(2);
    if (error === undefined) expect(result.error).toBeUndefined();
    else expect(result.error).toMatch(error);
  });
});
