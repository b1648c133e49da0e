import { verifiers } from '@webhook-backpressure/inbox';
import { known } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import { HAND, packageOf, type Row } from '../core/verifiers/cases/signed.ts';
import { rows } from '../core/verifiers/signed-deliveries.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';

type Facts = Pick<Row, 'against' | 'id' | 'toleranceMs'> & { readonly isIdSigned?: string };

/** Verifiers with suites of their own. */
const OTHERS: Record<string, Facts> = {
  awsSns: { against: packageOf('sns-validator'), id: ['165545c9', 'aws-sns'], toleranceMs: Infinity },
  paypal: { against: HAND, id: ['WH-1', 'paypal'], isIdSigned: 'by a CRC-32', toleranceMs: Infinity },
  plaid: { against: HAND, toleranceMs: 300_000 },
  gitlab: { against: HAND },
  telegram: { against: HAND },
};

function factsOf(verifier: string, code: string): Facts {
  const ofSender = rows.filter((row) => row.verifier === verifier);
  const found = ofSender.find(({ option }) => code.includes(option ?? 'secret')) ?? OTHERS[verifier];
  if (found === undefined) throw new Error(`no test covers ${code}`);
  return found;
}

function timestampOf({ toleranceMs }: Facts): string {
  if (toleranceMs === undefined) return '–';
  return toleranceMs === Infinity ? 'with `toleranceMs`' : `${String(toleranceMs / 60_000)} min`;
}

const table = rowsOf(sectionOf(page('docs/inbox.md'), 'Ready-made verifiers'), 'Sender').map(
  (row) => [row['Sender'] ?? '', row] as const,
);

describe.each(table)('the row of %s', (_, row) => {
  const [code = ''] = codeIn(row['`verify`']);
  const verifier = /verifiers\.(\w+)/.exec(code)?.[1] ?? '';
  const facts = factsOf(verifier, code);
  const profile = known[verifier as keyof typeof known] as { readonly id?: string } | undefined;

  it('says what the tests check: the id, the timestamp, and against what', () => {
    const [idHeader = ''] = codeIn(row['Id']);
    const unsigned = facts.id === undefined ? profile?.id : undefined;
    expect(row['Is the id signed?']).toBe(
      facts.id ? (facts.isIdSigned ?? 'yes') : unsigned === undefined ? '–' : 'no',
    );
    if (facts.id === undefined) expect(idHeader.toLowerCase()).toBe(unsigned ?? '');
    expect(row['Timestamp']).toBe(timestampOf(facts));
    expect(row['Checked against']).toBe(facts.against);
  });
});

it('gives the number of verifiers', () => {
  // `svix` is another name for `standardWebhooks`.
  const count = String(new Set(Object.values(verifiers)).size);
  expect(page('docs/comparison.md').source).toContain(`| ${count} verifiers `);
  expect(page('docs/SKILL.md').source).toContain(`[${count} verifiers](inbox.md#ready-made-verifiers)`);
});
