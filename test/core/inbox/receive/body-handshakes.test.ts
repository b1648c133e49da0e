import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

describe('a handshake', () => {
  it.each([
    [
      'slack',
      { 'x-slack-signature': 'v0' },
      '{"type":"url_verification","challenge":"c1"}',
      200,
      '{"challenge":"c1"}',
    ],
    ['discord', { 'x-signature-ed25519': 'ab' }, '{"type":1}', 200, '{"type":1}'],
    ['discord-events', { 'user-agent': 'Discord-Webhook/1.0' }, '{"type":0}', 204, ''],
    [
      'Event Grid',
      { 'aeg-event-type': 'SubscriptionValidation' },
      '[{"data":{"validationCode":"v1"}}]',
      200,
      '{"validationResponse":"v1"}',
    ],
  ])('of %s is answered and not stored', async (_, headers, body, status, answer) => {
    const bench = new InboxBench();
    expect(await bench.deliver(undefined, body, headers as Record<string, string>)).toMatchObject({
      status,
      body: answer,
    });
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { stored: 0 } });
  });

  it('of an unknown sender is an ordinary delivery, as is any other delivery of Slack', async () => {
    const bench = new InboxBench();
    expect((await bench.deliver('a', '{"type":1}')).status).toBe(200);
    for (const body of [
      '{"type":"event_callback","challenge":"x"}',
      '[]',
      'null',
      'no json',
      '{"type":"url_verification"}',
    ]) {
      expect((await bench.deliver(undefined, body, { 'x-slack-signature': 'v0' })).status).toBe(202);
    }
    expect(bench.inbox.snapshot().totals.stored).toBe(6);
  });

  it('is answered only after verification', async () => {
    const bench = new InboxBench({ verify: () => false });
    const body = '{"type":"url_verification","challenge":"c1"}';
    expect((await bench.deliver(undefined, body, { 'x-slack-signature': 'v0' })).status).toBe(401);
  });

  it('is answered as the option returns', async () => {
    const bench = new InboxBench({
      handshake: ({ text }) =>
        text() === 'hello' ? { status: 201, headers: { 'X-A': '1' }, body: 'world' } : undefined,
    });
    expect(await bench.deliver('a', 'hello')).toEqual({
      status: 201,
      headers: { 'X-A': '1' },
      body: 'world',
    });
    expect((await bench.deliver('b', 'other')).status).toBe(200);
  });

  it.each([undefined, null])(
    'is an ordinary delivery when the option returns or resolves to %s',
    async (said) => {
      for (const handshake of [() => said, () => Promise.resolve(said)]) {
        expect((await new InboxBench({ handshake }).deliver('a')).status).toBe(200);
      }
    },
  );

  it('is refused in time, and not stored later, when the option takes too long', async () => {
    let end: () => void = () => undefined;
    const bench = new InboxBench({
      handshake: () =>
        new Promise((resolve) => {
          end = () => {
            resolve(undefined);
          };
        }),
    });
    const receiving = bench.send('a');
    await turns();
    await bench.advance(9000);
    expect((await receiving)?.body).toContain('"wait"');
    end();
    await turns();
    expect(bench.inbox.snapshot().totals.stored).toBe(0);
  });
});
