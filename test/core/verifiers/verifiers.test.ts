import { type SecretOption, verifiers } from '@webhook-backpressure/inbox';
import { known } from '@webhook-backpressure/senders';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { InboxBench } from '../inbox/inbox-bench.ts';
import { BODY, hmac, makeOf, NOW, OTHER, type Row, SECRET, type Sent } from './cases/signed.ts';
import { rows, statusOf } from './signed-deliveries.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const FORGED = ['', '{}', 'null', '=', ',,,', 'v1,', 't=1,v1=', 'é'];
const clock = (): number => NOW;
const titled = rows.map((row) => [titleOf(row), row] as const);

function titleOf({ verifier, option, more, header }: Row): string {
  const kind = verifier === 'httpSignatures' ? String(more?.['algorithm']) : (option ?? header ?? 'body');
  return `${verifier} (${kind})`;
}

describe.each(titled)('the verifier %s', (_, row) => {
  const { sent, header, toleranceMs, secrets = [SECRET, OTHER], tamper = (body: string) => `${body} ` } = row;
  const [secret, other] = secrets;
  const make = makeOf(row);

  it('accepts a signed delivery, as the vendor does, and rejects any change to it', async () => {
    const genuine = await sent(secret, NOW);
    const verify = make(secret, clock);
    expect(await statusOf(verify, genuine)).toBe(200);
    const changed: Sent[] = [
      { ...genuine, body: tamper(genuine.body) },
      { ...genuine, body: '' },
      { ...genuine, body: '[]' },
    ];
    expect(await Promise.all(changed.map((one) => statusOf(verify, one)))).toEqual([401, 401, 401]);
    if (row.confirm === undefined) return;
    expect(await row.confirm(genuine, secret, NOW)).toBe(true);
    const { confirm } = row;
    const refused = Promise.resolve().then(() => confirm(changed[0] as Sent, secret, NOW));
    expect(await refused.catch(() => false)).toBe(false);
  });

  it.runIf(header)('rejects a delivery with another value of a signed header, or without it', async () => {
    const genuine = await sent(secret, NOW);
    const verify = make(secret, clock);
    for (const [name, value] of Object.entries(genuine.headers)) {
      const others = Object.fromEntries(Object.entries(genuine.headers).filter(([one]) => one !== name));
      expect(await statusOf(verify, { ...genuine, headers: others }), `without ${name}`).toBe(401);
      if (name === 'content-type') continue;
      for (const forged of [`${value}x`, `x${value}`, value.slice(0, -4), ...FORGED]) {
        const headers = { ...others, [name]: forged };
        expect(await statusOf(verify, { ...genuine, headers }), `${name}: ${forged}`).toBe(401);
      }
    }
  });

  it('rejects a delivery signed with another secret', async () => {
    expect(await statusOf(make(other, clock), await sent(secret, NOW))).toBe(401);
  });

  it('accepts several secrets during rotation, and a secret per tenant', async () => {
    for (const one of secrets) {
      const genuine = await sent(one, NOW);
      expect(await statusOf(make([...secrets], clock), genuine)).toBe(200);
      const ofTenant = make(({ params }) => (params['tenant'] === 'a' ? one : undefined), clock);
      expect(await statusOf(ofTenant, genuine, { params: { tenant: 'a' } })).toBe(200);
      expect(await statusOf(ofTenant, genuine, { params: { tenant: 'b' } })).toBe(401);
      const promised = make(() => Promise.resolve([other, secret]), clock);
      expect(await statusOf(promised, genuine)).toBe(200);
    }
  });

  it.each([
    [undefined],
    [''],
    [' \t\r\n'],
    [null],
    [[]],
    [[secret, undefined]],
    [['', secret]],
    [new Uint8Array()],
    [42],
    [{}],
  ])('throws at construction without a secret: %s', (given) => {
    expect(() => make(given as SecretOption)).toThrow(/^verifiers\.\w+\(\{ \w+ \}\): .*ERR_WBP_SECRET/);
  });

  it.each([[''], [' '], [null], [[]], [[secret, undefined]], [new Uint8Array()]])(
    'rejects all deliveries if the function returns no secret: %s',
    async (given) => {
      const genuine = await sent(secret, NOW);
      const withEmptyKey = {
        ...genuine,
        headers: { ...genuine.headers, ...(header && { [header]: hmac('', BODY).digest('hex') }) },
      };
      const verify = make(() => given as string, clock);
      expect([await statusOf(verify, genuine), await statusOf(verify, withEmptyKey)]).toEqual([401, 401]);
    },
  );

  it('asks for a retry, with the status of the sender, if the function throws or rejects', async () => {
    const unavailable = (): never => {
      throw new Error('no database');
    };
    for (const given of [unavailable, () => Promise.reject(new Error('no database'))])
      expect([429, 503]).toContain(await statusOf(make(given, clock), await sent(secret, NOW)));
  });

  it.runIf(toleranceMs !== undefined)('rejects a timestamp that is too far from now', async () => {
    const genuine = await sent(secret, NOW);
    const at = (awayMs: number, given?: number): Promise<number> =>
      statusOf(
        make(secret, () => NOW + awayMs, given),
        genuine,
      );
    const known = toleranceMs === Infinity ? 86_400_000 : (toleranceMs as number);
    expect(await Promise.all([-known, known].map((awayMs) => at(awayMs)))).toEqual([200, 200]);
    const beyond = await Promise.all([-known - 1, known + 1, NaN].map((awayMs) => at(awayMs)));
    expect(beyond).toEqual(toleranceMs === Infinity ? [200, 200, 200] : [401, 401, 401]);
    expect(await Promise.all([1000, 1001, -1001].map((awayMs) => at(awayMs, 1000)))).toEqual([200, 401, 401]);
    vi.spyOn(Date, 'now').mockReturnValue(NOW);
    expect(await statusOf(make(secret), genuine)).toBe(200);
  });

  it.runIf(row.id)('brings the signed id, so that a repeated delivery is a duplicate', async () => {
    const { body, headers, url } = await sent(secret, NOW);
    const bench = new InboxBench({ verify: make(secret, clock) });
    // Headers that anyone can add: they are not signed.
    for (const more of [{}, { 'x-github-event': 'push', 'x-github-delivery': 'another' }])
      await bench.deliver(undefined, body, { ...headers, ...more }, { url: url ?? '/webhooks' });
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 1, duplicate: 1 });
    expect([bench.last.delivery.id, bench.last.delivery.key]).toEqual(row.id);
  });
});

it('covers every verifier but those with suites of their own', () => {
  const covered = new Set<string>(rows.map(({ verifier }) => verifier));
  const others = Object.keys(verifiers).filter((name) => !covered.has(name));
  expect(others.sort()).toEqual(['awsSns', 'gitlab', 'paypal', 'plaid', 'telegram']);
});

it('names verifiers as the senders are named, and takes their names for keys', () => {
  const names = Object.keys(verifiers).filter((name) => name !== 'httpSignatures');
  expect(names.filter((name) => !(name in known))).toEqual([]);
  for (const { verifier, id } of rows) {
    if (id === undefined) continue;
    const profile = known[(verifier === 'svix' ? 'standardWebhooks' : verifier) as keyof typeof known];
    expect((profile as { name: string }).name).toBe(id[1]);
  }
});

it('names the header that is missing', async () => {
  const bench = new InboxBench({ verify: verifiers.github({ secret: SECRET }) });
  await bench.deliver(undefined, BODY, {});
  expect(bench.events.map((event) => ('error' in event ? event.error : ''))).toContain(
    'The header x-hub-signature-256 is missing.',
  );
});

it('names the verifier without a secret, and what is wrong with the environment variable', () => {
  expect(() => verifiers.stripe({ secret: undefined })).toThrow(
    /^verifiers\.stripe\(\{ secret \}\): secret is missing\. Is the environment variable set, and spelled/,
  );
  expect(() => verifiers.twilio({ secret: ' ', baseUrl: 'https://a.example' })).toThrow(
    /^verifiers\.twilio\(\{ secret \}\): secret is empty or blank\. Has the environment variable a value\?/,
  );
  expect(() => verifiers.discord({ publicKey: 'abc' })).toThrow(
    /^verifiers\.discord\(\{ publicKey \}\): publicKey is not in the format that the sender uses\./,
  );
});
