import { describe, expect, it } from 'vitest';
import {
  adviceFor,
  builtInSenders,
  known,
  type SenderProfile,
  type SwitchOffRule,
} from '@webhook-backpressure/senders';
import { codeIn, page, rowsOf, sectionOf } from '../../docs/pages.ts';
import { cellsOf, duration } from './cells.ts';

const senders = page('docs/senders.md');
const recognized = byName(builtInSenders);
const named = byName(Object.values(known).filter(({ match }) => match === 'all'));
const all = new Map([...recognized, ...named]);
const table = rowsOf(sectionOf(senders, 'Known senders'), 'Sender');
const namedTable = rowsOf(sectionOf(senders, 'Unrecognized senders'), 'Sender');
const toDo = rowsOf(sectionOf(senders, 'What to do for each sender'), 'Sender');

/** A sender may have several profiles, for requests that differ. */
function byName(profiles: readonly SenderProfile[]): Map<string, SenderProfile[]> {
  const found = new Map<string, SenderProfile[]>();
  for (const profile of profiles) found.set(profile.name, [...(found.get(profile.name) ?? []), profile]);
  return found;
}

function keysIn(rows: readonly Record<string, string>[]): string[] {
  return rows.flatMap((row) => codeIn(row['Key']));
}

/** The first sentence of a cell; the rest may describe other cases. */
function firstWords(cell: string | undefined): string {
  return (cell ?? '').split('.')[0] ?? '';
}

function namesWhere(holds: (profile: SenderProfile) => boolean): string[] {
  return [...all]
    .flatMap(([name, [profile]]) => (profile !== undefined && holds(profile) ? [name] : []))
    .sort();
}

describe('the tables of senders in docs/senders.md', () => {
  it('list exactly the recognized senders, in their order, and those that have to be named', () => {
    expect(keysIn(table)).toEqual([...recognized.keys()]);
    expect(keysIn(namedTable)).toEqual([...named.keys()]);
  });

  it.each([...table, ...namedTable].map((row) => [codeIn(row['Key'])[0] ?? '', row] as const))(
    'agree with the profile of %s',
    (name, row) => {
      const cells = Object.entries(cellsOf(all.get(name) ?? [])).filter(([title]) => title in row);
      expect(row).toMatchObject(Object.fromEntries(cells));
    },
  );
});

describe('the advice for each sender in docs/senders.md', () => {
  const rows = toDo.map(
    (row, i) => [row['Sender'] ?? '', row, [...all.values()][i]?.[0] as SenderProfile] as const,
  );

  it('is in the order of the other tables', () => {
    expect(toDo.map((row) => row['Sender'])).toEqual([...table, ...namedTable].map((row) => row['Sender']));
  });

  it.each(rows)('names the profile of %s', (_, row, profile) => {
    const key = codeIn(row['Profile'])[0]?.replace('known.', '') as keyof typeof known;
    expect(known[key]).toBe(profile);
  });

  it.each(rows)(
    'says what a refusal means to %s: lost if it never retries, otherwise delayed',
    (_, row, profile) => {
      expect(firstWords(row['When it is refused'])).toMatch(
        profile.retries === 'none' ? /^\*\*lost\*\*/ : /^delayed/,
      );
    },
  );

  it.each(rows)('follows from the profile of %s', (_, row, profile) => {
    const [route, what] = /^(Name it on its route\. ?)?(.*)$/.exec(row['What to do'] ?? '')?.slice(1) ?? [];
    expect(route !== undefined).toBe(profile.match === 'all');
    const { use, because } = adviceFor(profile);
    if (use === 'inbox')
      expect(what).toMatch(/^Use \[the inbox\]\(inbox\.md\)(?: and \[reconcile\]\(reconcile\.md\))?\./);
    else if (because === 'uses your response') expect(what).toMatch(/^Give it a route with its own intake\./);
    else expect(what).not.toMatch(/^(Use|Give)/);
  });

  it('says so where a 429 loses the delivery', () => {
    for (const [sender, { 'When it is refused': refused = '' }, { status, retries }] of rows) {
      const after = typeof retries === 'object' ? (retries.after ?? [429]) : [429];
      if (after.includes(429)) continue;
      expect(refused, sender).toContain(' 429');
      expect(status, sender).toBe(503);
    }
  });
});

describe('docs/senders.md', () => {
  it('lists the senders that disable endpoints, and their rules', () => {
    const section = 'Senders that disable endpoints';
    const listed = rowsOf(sectionOf(senders, section), 'Sender').map(({ Sender, After }) => [
      Sender?.toLowerCase(),
      After,
    ]);
    const rules = namesWhere(({ switchOff }) => switchOff !== undefined).map((name) => [
      name,
      rule(all.get(name)?.[0]?.switchOff),
    ]);
    expect(listed.sort()).toEqual(rules);
  });

  it('lists the handshakes that are recognized by a header', () => {
    const rows = rowsOf(sectionOf(senders, 'Handshakes'), 'Sender');
    const accepted = rows.filter((row) => row['Treated as'] === 'may use the reserve');
    const built = builtInSenders.flatMap(({ handshake, match }) => {
      if (handshake === undefined) return [];
      const value = handshake.value === undefined ? '' : `: ${String(handshake.value)}`;
      return [`\`${handshake.header ?? match.header}${value}\``];
    });
    expect(accepted.map((row) => row['Handshake'])).toEqual([...new Set(built)]);
  });

  it('explains every field of a profile', () => {
    const fields = rowsOf(sectionOf(senders, 'Add or correct a sender'), 'Field');
    const used = new Set(Object.values(known).flatMap((profile) => Object.keys(profile)));
    expect(fields.flatMap((row) => codeIn(row['Field'])).sort()).toEqual([...used].sort());
  });
});

function rule({ inARow, ratio, minAnswers, count, windowS = 0 }: SwitchOffRule = {}): string {
  if (inARow !== undefined) return `${String(inARow)} failures in a row`;
  const least = minAnswers === undefined ? '' : ` and ${String(minAnswers)} deliveries`;
  const limits = [
    ratio === undefined ? undefined : `${String(ratio * 100)} % failures${least}`,
    count === undefined ? undefined : `${String(count)} failures`,
  ].filter((limit) => limit !== undefined);
  return `${limits.join(' or ')} within ${windowS === 3600 ? 'an hour' : duration(windowS)}`;
}
