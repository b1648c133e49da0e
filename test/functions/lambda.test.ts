import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { InboxDelivery } from '@webhook-backpressure/inbox';
import { services, type Sent } from './lambda-events.ts';
import { receivers, type Receiver } from './receivers.ts';

const SECRET = 'secret';
let receiver: Receiver;
let urls: string[];

afterEach(() => receiver.inbox.close({ timeoutMs: 0 }));

describe.each(Object.keys(receivers))('%s', (adapter) => {
  describe.each(Object.keys(services))('behind %s', (service) => {
    async function send(sent: Sent, options = {}): Promise<[number, unknown]> {
      urls = [];
      receiver = created(adapter, options);
      const event = services[service]?.(sent);
      if (event === undefined) throw new Error(service);
      const { statusCode, body, isBase64Encoded } = await receiver.handler(event);
      const text = isBase64Encoded === true ? Buffer.from(body, 'base64').toString() : body;
      return [statusCode, text.startsWith('{') ? JSON.parse(text) : text];
    }

    it('verifies the exact bytes of a text', async () => {
      const body = '{"price":"5 €",  "a":1.0}\r\n';
      expect(await send({ headers: signed(body), body })).toEqual([200, { id: 'a', status: 'accepted' }]);
      expect(urls).toEqual([expect.stringMatching(/^\/webhooks\?tenant=a(%20|\+)b$/)]);
    });

    it('verifies the exact bytes of a binary body', async () => {
      const bytes = Buffer.from([0, 255, 254, 13, 10, 128, 65]);
      const sent = { headers: signed(bytes), body: bytes.toString('base64'), isBase64Encoded: true };
      expect(await send(sent)).toEqual([200, { id: 'a', status: 'accepted' }]);
    });

    it.each(['', null])('accepts an empty body: %j', async (body) => {
      expect((await send({ headers: signed(''), body }))[0]).toBe(200);
    });

    it('rejects a wrong signature', async () => {
      expect((await send({ headers: signed('{}'), body: '{ }' }))[0]).toBe(401);
    });

    it('does not accept a body that is not base64', async () => {
      const [status] = await send({ headers: signed('{}'), body: '%%%', isBase64Encoded: true });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(receiver.inbox.snapshot().depth).toBe(0);
    });

    it('refuses a body that is too large', async () => {
      const body = 'x'.repeat(2000);
      expect((await send({ headers: signed(body), body }, { maxBodyBytes: 1000 }))[0]).toBe(413);
    });
  });
});

function created(adapter: string, options: object): Receiver {
  const create = receivers[adapter];
  if (create === undefined) throw new Error(adapter);
  return create({
    verify: ({ url, rawBody, headers }: Pick<InboxDelivery, 'url' | 'rawBody' | 'headers'>) => {
      urls.push(url);
      return headers['x-signature'] === signature(rawBody);
    },
    ...options,
  });
}

function signed(body: string | Buffer): Record<string, string> {
  return { 'Content-Type': 'application/json', 'Webhook-Id': 'a', 'X-Signature': signature(body) };
}

function signature(body: string | Uint8Array): string {
  return createHmac('sha256', SECRET).update(body).digest('hex');
}
