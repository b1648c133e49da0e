import { type Verifier, verifiers } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { PUBLISHED, REJECTED_BY_CONVOY } from './cases/published.ts';
import { RECORDED, type Recorded } from './cases/recorded.ts';
import { statusOf } from './signed-deliveries.ts';

function verifierOf({ verifier, options, atMs }: Recorded, awayMs = 0): Verifier {
  const clock = atMs === undefined ? {} : { wallClock: () => atMs + awayMs };
  return (verifiers[verifier] as (given: object) => Verifier)({ ...options, ...clock });
}

const titled = [...RECORDED, ...PUBLISHED].map((one, at) => [`${one.verifier} ${String(at)}`, one] as const);

describe.each(titled)('the recorded delivery of %s', (_, recorded) => {
  const { body, signed } = recorded;

  it(`is accepted, as its source says: ${recorded.source}`, async () => {
    expect(await statusOf(verifierOf(recorded), recorded)).toBe(200);
    const changed = signed === undefined ? `${body} ` : body.replace(signed, 'another');
    expect(await statusOf(verifierOf(recorded), { ...recorded, body: changed })).toBe(401);
  });
});

it.each(REJECTED_BY_CONVOY)('rejects what Convoy’s vectors reject: %s', async (header) => {
  const vector = PUBLISHED.find(({ verifier, atMs }) => verifier === 'convoy' && atMs !== undefined);
  const sent = { ...(vector as Recorded), headers: { 'x-convoy-signature': header } };
  expect(await statusOf(verifierOf(sent), sent)).toBe(401);
});

it('rejects recorded deliveries that are replayed later', async () => {
  const timed = [...RECORDED, ...PUBLISHED].filter(
    ({ atMs, verifier }) => atMs !== undefined && verifier !== 'zoom',
  );
  expect(timed.length).toBeGreaterThan(7);
  for (const one of timed) expect(await statusOf(verifierOf(one, 301_000), one), one.verifier).toBe(401);
});
