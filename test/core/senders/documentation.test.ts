import { describe, expect, it } from 'vitest';
import { builtInSenders, type HeaderSenderProfile, type SwitchOffRule } from '@webhook-backpressure/core';
import { codeIn, page, rowsOf, sectionOf } from '../../docs/pages.ts';
import { cellsOf, duration } from './cells.ts';

const senders = page('docs/senders.md');
const table = rowsOf(sectionOf(senders, 'Known senders'), 'Sender');
const byName = new Map<string, HeaderSenderProfile[]>();
for (const profile of builtInSenders) {
  byName.set(profile.name, [...(byName.get(profile.name) ?? []), profile]);
}

/** The first sentence of a cell; the rest may describe other cases. */
function firstWords(cell: string | undefined): string {
  return (cell ?? '').split('.')[0] ?? '';
}

function namesWhere(holds: (profile: HeaderSenderProfile) => boolean): string[] {
  return [...new Set(builtInSenders.filter(holds).map(({ name }) => name))].sort();
}

/** The names of the senders in the table of a section. */
function namesListed(section: string): string[] {
  const labels = rowsOf(sectionOf(senders, section), 'Sender').map((row) => row['Sender']);
  return table
    .filter((row) => labels.includes(row['Sender']))
    .flatMap((row) => codeIn(row['Key']))
    .sort();
}

describe('the table of senders in docs/senders.md', () => {
  it('lists exactly the built-in senders, in their order', () => {
    expect(table.flatMap((row) => codeIn(row['Key']))).toEqual([...byName.keys()]);
  });

  it.each(table.map((row) => [codeIn(row['Key'])[0] ?? '', row] as const))(
    'agrees with the profile of %s',
    (name, row) => {
      expect(row).toMatchObject(cellsOf(byName.get(name) ?? []));
    },
  );

  it('says what a refusal means: lost for senders that never retry, delayed otherwise', () => {
    for (const row of table) {
      const refused = firstWords(row['When it is refused']);
      expect(refused, row['Sender']).toMatch(row['Retries'] === 'never' ? /^\*\*lost\*\*/ : /^delayed/);
    }
  });

  it('says so where a 429 loses the delivery', () => {
    const lost = table.filter((row) => (row['When it is refused'] ?? '').includes(' 429 '));
    for (const row of lost) expect(row['Status'], row['Sender']).toBe('503');
    expect(lost).not.toEqual([]);
  });
});

describe('docs/senders.md', () => {
  it('lists the senders that lose refused events', () => {
    expect(namesListed('Senders that lose events')).toEqual(namesWhere(({ retries }) => retries === 'none'));
  });

  it('lists the senders that disable endpoints, and their rules', () => {
    const section = 'Senders that disable endpoints';
    const listed = rowsOf(sectionOf(senders, section), 'Sender').map(({ Sender, After }) => [
      Sender?.toLowerCase(),
      After,
    ]);
    const known = namesWhere(({ switchOff }) => switchOff !== undefined).map((name) => [
      name,
      rule(byName.get(name)?.[0]?.switchOff),
    ]);
    expect(listed.sort()).toEqual(known);
  });

  it('lists the handshakes that are recognized by a header', () => {
    const rows = rowsOf(sectionOf(senders, 'Handshakes'), 'Sender');
    const recognized = rows.filter((row) => row['Treated as'] === 'accepted as critical');
    const known = builtInSenders.flatMap(({ handshake, match }) =>
      handshake === undefined ? [] : [`\`${handshake.header ?? match.header}: ${String(handshake.value)}\``],
    );
    expect(recognized.map((row) => row['Handshake'])).toEqual(known);
  });

  it('explains every field of a profile', () => {
    const fields = rowsOf(sectionOf(senders, 'Add or correct a sender'), 'Field');
    const used = new Set(builtInSenders.flatMap((profile) => Object.keys(profile)));
    expect(fields.flatMap((row) => codeIn(row['Field'])).sort()).toEqual([...used].sort());
  });
});

function rule({ inARow, ratio, minAnswers, count, windowS = 0 }: SwitchOffRule = {}): string {
  if (inARow !== undefined) return `${String(inARow)} failures in a row`;
  const failures = ratio === undefined ? String(count) : `${String(ratio * 100)} %`;
  const least = minAnswers === undefined ? '' : ` and ${String(minAnswers)} deliveries`;
  return `${failures} failures${least} within ${windowS === 3600 ? 'an hour' : duration(windowS)}`;
}
