import { createInbox, memoryStore, verifiers } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox/inbox-bench.ts';
import { hmac, NOW, SECONDS, SECRET } from './cases/signed.ts';

const wallClock = (): number => NOW;
const options = { secret: SECRET, wallClock };

function signedByStripe(body: string): Record<string, string> {
  const signature = hmac(SECRET, `${SECONDS}.${body}`).digest('hex');
  return { 'stripe-signature': `t=${SECONDS},v1=${signature}` };
}

/** Senders whose id is in the body, with the verifier alone. */
const senders = [
  { name: 'stripe', verify: verifiers.stripe(options), field: 'id', signed: signedByStripe },
  {
    name: 'slack',
    verify: verifiers.slack(options),
    field: 'event_id',
    signed: (body: string) => ({
      'x-slack-request-timestamp': SECONDS,
      'x-slack-signature': `v0=${hmac(SECRET, `v0:${SECONDS}:${body}`).digest('hex')}`,
    }),
  },
  {
    name: 'paddle',
    verify: verifiers.paddle(options),
    field: 'event_id',
    signed: (body: string) => ({
      'paddle-signature': `ts=${SECONDS};h1=${hmac(SECRET, `${SECONDS}:${body}`).digest('hex')}`,
    }),
  },
];

/** Headers that anyone can add: they are not signed, and each would give another id or another key. */
const FORGED = [
  { 'webhook-id': 'another' },
  { 'svix-id': 'another' },
  { 'x-hookdeck-eventid': 'another' },
  { 'x-github-event': 'push', 'x-github-delivery': 'another' },
];

describe.each(senders)('the verifier of $name', ({ name, verify, field, signed }) => {
  async function totalsOf(bodies: readonly string[], more: readonly Record<string, string>[] = [{}]) {
    const bench = new InboxBench({ verify });
    for (const body of bodies)
      for (const headers of more) await bench.deliver(undefined, body, { ...signed(body), ...headers });
    return bench;
  }

  it('brings the id of the sender from the signed body', async () => {
    const first = JSON.stringify({ [field]: 'evt_1' });
    const second = JSON.stringify({ [field]: 'evt_2' });
    const { inbox, calls } = await totalsOf([first, second, first]);
    expect(inbox.snapshot().totals).toMatchObject({ stored: 2, duplicate: 1, conflict: 0 });
    expect(calls.map(({ delivery }) => [delivery.key, delivery.id])).toEqual([
      [name, 'evt_1'],
      [name, 'evt_2'],
    ]);
  });

  it('does not take a replay with another unsigned header for new', async () => {
    const { inbox } = await totalsOf([JSON.stringify({ [field]: 'evt_1' })], [{}, ...FORGED]);
    expect(inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: FORGED.length });
  });

  it.each(['', 'command=%2Fdeploy', '[]', 'null', '{}', `{"${field}":7}`, `{"${field}":""}`])(
    'leaves a body without an id as before: %s',
    async (body) => {
      const { inbox } = await totalsOf([body, body]);
      expect(inbox.snapshot().totals).toMatchObject({ stored: 2, duplicate: 0 });
      const named = await totalsOf([body, body], [{ 'webhook-id': 'one' }]);
      expect(named.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 1 });
    },
  );

  it('yields to the options id and keyGenerator', async () => {
    const bench = new InboxBench({ verify, id: () => 'mine', keyGenerator: () => 'tenant' });
    const body = JSON.stringify({ [field]: 'evt_1' });
    await bench.deliver(undefined, body, signed(body));
    expect(bench.last.delivery).toMatchObject({ id: 'mine', key: 'tenant' });
  });
});

it.each(Object.entries(verifiers))('%s that was not called is refused at construction', (name, make) => {
  const create = (): unknown =>
    createInbox({ store: memoryStore(), process: () => 0, verify: make as unknown as () => true });
  expect(create).toThrow(/Call it: verifiers\.\w+\(\{ secret \}\)\. \(ERR_WBP_VERIFY/);
});
