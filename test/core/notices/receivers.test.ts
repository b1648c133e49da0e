import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createInbox, memoryStore, Unrecoverable } from '@webhook-backpressure/inbox';
import { type EventSource, notify } from '@webhook-backpressure/observe';
import { createSender } from '@webhook-backpressure/sender';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { alarm, dead, noticed } from './noticed.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that answers with the statuses in turn, and keeps what it received. */
async function receiver(...statuses: readonly number[]): Promise<{
  readonly url: string;
  readonly received: Received[];
}> {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      received.push({ headers: req.headers, body });
      res.writeHead(statuses[received.length - 1] ?? 204).end();
    });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`, received };
}

describe('a receiver of notices', () => {
  it('posts JSON to a URL, signed as Standard Webhooks defines', async () => {
    const { url, received } = await receiver();
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const { report, end } = noticed({ to: url, secret });
    await report(alarm());
    await end();
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    expect(JSON.parse(body)).toMatchObject({
      type: 'webhook-backpressure.notice',
      data: { kind: 'inbox', alarms: [{ code: 'WBP_ALARM_OLD', state: 'raised' }] },
    });
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers;
    const signed = createHmac('sha256', Buffer.alloc(32, 7)).update(
      `${String(id)}.${String(timestamp)}.${body}`,
    );
    expect(given).toBe(`v1,${signed.digest('base64')}`);
    expect(body + JSON.stringify(headers)).not.toContain('whsec_');
  });

  it('counts an answer other than 2xx as a failure', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const { url, received } = await receiver(500, 302, 200);
    const { clock, report } = noticed({ to: url });
    await report(alarm());
    for (let minute = 1; minute < 3; minute += 1) {
      await expect.poll(() => received.length).toBe(minute);
      await expect.poll(() => warn.mock.calls.length).toBe(1);
      await expect.poll(() => clock.pending).toBe(1);
      clock.advance(60_000);
    }
    await expect.poll(() => received.length).toBe(3);
    warn.mockRestore();
  });

  it('sends Slack a text in which nothing is a command', async () => {
    const asked: { url: string; body: string }[] = [];
    vi.stubGlobal('fetch', (url: string, { body }: { body: string }) => {
      asked.push({ url, body });
      return Promise.resolve(new Response('ok'));
    });
    const { report, end } = noticed({ to: 'https://hooks.slack.com/services/T/B/x', errors: true });
    await report(dead('a & b', '<!channel>'));
    await end();
    vi.unstubAllGlobals();
    expect(asked).toEqual([
      {
        url: 'https://hooks.slack.com/services/T/B/x',
        body: JSON.stringify({
          text: '1 delivery became a dead letter: a &amp; b 1.\n&lt;!channel&gt;',
        }),
      },
    ]);
  });

  it('is about real dead letters and alarms, and sends through a sender', async () => {
    const { url, received } = await receiver();
    const sender = createSender({
      store: memoryStore(),
      endpoint: () => ({ url, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }),
      allowPrivateAddresses: true,
    });
    const inbox = createInbox({
      store: memoryStore(),
      verify: false,
      process: () => {
        throw new Unrecoverable('no such order');
      },
    });
    const end = notify(inbox, { to: { sender, endpoint: 'ops' } });
    const isDead = new Promise<void>((resolve) => {
      inbox.subscribe(({ type }) => {
        if (type === 'dead') resolve();
      });
    });
    await inbox.receive({
      headers: { 'webhook-id': 'a', 'x-github-event': 'push', 'x-github-delivery': 'a' },
      hint: '',
      read: (sink) => {
        sink.add(new TextEncoder().encode('{}'));
        return Promise.resolve('whole');
      },
    });
    await isDead;
    await end();
    await expect.poll(() => received.length).toBe(1);
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      type: 'webhook-backpressure.notice',
      data: { deadLetters: { count: 1 } },
    });
    await Promise.all([inbox.close(), sender.close()]);
  });

  it('sends no notice about dead notices of its own endpoint', async () => {
    let listener: (event: object) => void = () => undefined;
    const sent: unknown[] = [];
    const sender = {
      endpoints: {},
      send: (event: unknown) => sent.push(event),
      subscribe: (given: typeof listener) => {
        listener = given;
        return () => undefined;
      },
    };
    const end = notify(sender as unknown as EventSource, { to: { sender, endpoint: 'ops' } });
    listener({ ...dead(), endpoint: 'ops' });
    await end();
    expect(sent).toEqual([]);
    listener({ ...dead(), endpoint: 'other' });
    await end();
    expect(sent).toHaveLength(1);
  });
});
