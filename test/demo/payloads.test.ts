import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { bulkImport } from '../../demo/src/payloads.ts';

it('imports the same events every time, each with its own id', () => {
  const events = bulkImport(2800);
  expect(bulkImport(2800)).toEqual(events);
  expect(new Set(events.map(({ id }) => id)).size).toBe(2800);
});

it('has events of the kinds and sizes that a shop sends', () => {
  const bodies = bulkImport(2800).map(({ body }) => body);
  const types = new Set(bodies.map((body) => (JSON.parse(body) as { type: string }).type));
  expect([...types].sort()).toEqual([
    'customer.created',
    'customer.updated',
    'inventory.adjusted',
    'order.created',
    'order.fulfilled',
    'order.paid',
  ]);
  const sizes = bodies.map((body) => Buffer.byteLength(body)).sort((a, b) => a - b);
  expect(sizes[0]).toBeGreaterThan(100);
  expect(sizes[1400]).toBeGreaterThan(1000);
  expect(sizes[1400]).toBeLessThan(4000);
  expect(sizes[2799]).toBeGreaterThan(8000);
});

it('has bodies whose signature holds over their bytes, also where they are not ASCII', () => {
  const webhook = new Webhook(`whsec_${Buffer.from('a secret of 24 bytes len').toString('base64')}`);
  const now = new Date();
  const spoken = bulkImport(100).filter(({ body }) => Buffer.byteLength(body) > body.length);
  expect(spoken.length).toBeGreaterThan(50);
  for (const { id, body } of spoken) {
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': webhook.sign(id, now, body),
    };
    expect(webhook.verify(Buffer.from(body), headers)).toEqual(JSON.parse(body));
  }
});
