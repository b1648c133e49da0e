import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../tooling/packages.js';
import { withNarrowTables } from '../../tooling/tables.js';
import { BASE, hrefOf, ORIGIN, routeOf } from './addresses.ts';
import { descriptionOf } from './description.ts';
import { groups, type Entry } from './navigation.ts';
import { withReadmeCode } from './readme-code.ts';

/** The groups that a reader with little room may skip. */
const OPTIONAL = new Set(['Background']);

/**
 * Writes what language models read: each page as Markdown beside its HTML, `llms.txt` with a list of them, and
 * `llms-full.txt` with all pages of that list that are not optional. See https://llmstxt.org.
 *
 * @param folder - of the built site
 * @param sources - the paths of all pages, from the top of the repository
 */
export function writeForAgents(folder: string, sources: readonly string[], summary: string): void {
  for (const source of sources) {
    const path = join(folder, routeOf(source) ?? '');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, markdownOf(source));
  }
  const shown = groups.filter(({ text }) => !OPTIONAL.has(text));
  const optional = groups.filter(({ text }) => OPTIONAL.has(text)).flatMap(({ entries }) => entries);
  const api = sources.filter((source) => /^docs\/api\/[^/]+\/index\.md$/.test(source)).sort();
  const list = [
    ...['# webhook-backpressure', '', `> ${summary}`, ''],
    ...shown.flatMap(({ text, entries }) => [`## ${text}`, '', ...entries.map(lineOf), '']),
    ...['## Optional', '', `- [All pages in one file](${addressOf('llms-full.txt')})`],
    ...optional.map(lineOf),
    ...api.map((source) => `- [API of ${source.split('/')[2] ?? ''}](${addressOf(routeOf(source) ?? '')})`),
  ];
  writeFileSync(join(folder, 'llms.txt'), `${list.join('\n')}\n`);
  const pages = shown.flatMap(({ entries }) =>
    entries.map(({ source }) => `<!-- ${addressOf(routeOf(source) ?? '')} -->\n\n${markdownOf(source)}`),
  );
  writeFileSync(join(folder, 'llms-full.txt'), pages.join('\n'));
}

function addressOf(route: string): string {
  return `${ORIGIN}${BASE}${route}`;
}

function lineOf({ text, source }: Entry): string {
  const description = descriptionOf(readFileSync(join(root, source), 'utf8'));
  const link = `- [${text}](${addressOf(routeOf(source) ?? '')})`;
  return description === undefined ? link : `${link}: ${description}`;
}

/** The page, with links that work wherever it is read. */
function markdownOf(source: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  return withReadmeCode(readFileSync(join(root, source), 'utf8'), readme)
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 0 ? withAddresses(part, source) : part))
    .join('');
}

function withAddresses(markdown: string, source: string): string {
  return withNarrowTables(markdown).replaceAll(/(?<=\]\()[^)\s]+(?=\))/g, (href) => {
    const target = hrefOf(source, href);
    return target.startsWith('/') ? addressOf(target.slice(1)) : target;
  });
}
