import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adviceFor, builtInSenders, type SenderProfile } from '@webhook-backpressure/senders';
import { medianOf, type Row } from '../../bench/src/fire/peers-report.ts';
import { pictureOf } from '../../bench/src/fire/picture.ts';
import { root } from '../../tooling/packages.js';
import { codeIn, page, rowsOf, sectionOf, tokensOf } from './pages.ts';

const readme = page('README.md');
const choices = rowsOf(sectionOf(readme, 'Middleware or inbox?'), 'The sender');

/** A sender may have several profiles, for requests that differ. */
const profiles = new Map(builtInSenders.map((profile) => [profile.name, profile]));
const known = rowsOf(sectionOf(page('docs/senders.md'), 'Known senders'), 'Sender').map((row) => ({
  title: row['Sender'] ?? '',
  profile: profiles.get(codeIn(row['Key'])[0] ?? '') as SenderProfile,
}));

/** The profile of a sender as docs/senders.md calls it, or as the beginning of that. */
function profileOf(name: string): SenderProfile {
  const found =
    known.find(({ title }) => title === name) ?? known.find(({ title }) => title.startsWith(name));
  if (found === undefined) throw new Error(`docs/senders.md has no sender ${name}.`);
  return found.profile;
}

/** Each row of the table: its reason or reasons, what to use, and the senders that it names. */
const rows = choices.map(({ 'The sender': cell = '', Use: use = '' }) => {
  const [reasons = '', names = ''] = cell.replaceAll('`', '').split(': ');
  const senders = names.split(', ').filter((name) => name !== '' && name !== 'your own platform');
  return { reasons, use, senders };
});

describe('the table of the README', () => {
  it.each(rows.flatMap(({ senders, ...row }) => senders.map((sender) => [sender, row] as const)))(
    'has %s in the row that follows from its profile',
    (sender, { reasons, use }) => {
      const advice = adviceFor(profileOf(sender));
      expect(reasons).toContain(advice.because);
      expect(use.startsWith(advice.use)).toBe(true);
    },
  );

  it('has one row for each sender', () => {
    for (const { title, profile } of known) {
      const { because, use } = adviceFor(profile);
      const fitting = rows.filter(({ reasons }) => reasons.includes(because));
      expect(fitting.length, `${title} ${because}`).toBe(1);
      expect(fitting[0]?.use.startsWith(use), title).toBe(true);
    }
  });

  it('advises the inbox to who is not sure', () => {
    expect(choices.at(-1)).toEqual({ 'The sender': 'Not sure?', Use: 'inbox' });
  });
});

describe('the README', () => {
  it('has at most 1,000 words, and code near its beginning', () => {
    expect(readme.source.split(/\s+/).filter((word) => word !== '').length).toBeLessThanOrEqual(1000);
    const lines = readme.source.split('\n');
    expect(lines.findIndex((line) => line.startsWith('```')) + 1).toBeLessThanOrEqual(20);
    expect(lines.findIndex((line) => line.startsWith('```js')) + 1).toBeLessThanOrEqual(20);
  });

  it('counts the known senders, and those that ignore Retry-After', () => {
    const ignoring = [...profiles.values()].filter(({ retryAfter }) => retryAfter === 'ignored');
    expect(readme.source).toContain(`[${String(profiles.size)} senders](docs/senders.md)`);
    expect(readme.source).toContain(`${String(ignoring.length)} ignore \`Retry-After\``);
  });

  it('shows the lost deliveries of the benchmark', () => {
    const { rows } = JSON.parse(readFileSync(join(root, 'bench/fire/results.json'), 'utf8')) as {
      rows: Row[];
    };
    expect(readFileSync(join(root, 'bench/fire/burst.svg'), 'utf8')).toBe(pictureOf(rows));
    const picture = tokensOf('image', readme.tokens).find(({ href }) => href === 'bench/fire/burst.svg');
    const lost = (peer: string): string => {
      const calm = rows.filter(({ isKilled }) => !isKilled);
      return String(medianOf(calm, peer, ({ lost }) => lost));
    };
    expect(picture?.text).toContain(`${lost('no protection')} without protection`);
    expect(picture?.text).toContain(`${lost('middleware')} with the middleware`);
    expect(picture?.text).toContain(`${lost('inbox')} with the inbox`);
  });
});
