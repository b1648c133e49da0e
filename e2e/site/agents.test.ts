import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BASE, ORIGIN } from '../../site/src/addresses.ts';
import { groups } from '../../site/src/navigation.ts';
import { root } from '../../tooling/packages.js';

const FOLDER = join(root, 'site/dist');
const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });

/** The files of the site to which a text links. */
function linked(text: string): string[] {
  const prefix = `](${ORIGIN}${BASE}`;
  return text
    .split(prefix)
    .slice(1)
    .map((rest) => rest.slice(0, rest.search(/[)#]/)));
}

it('has each page as Markdown beside its HTML', () => {
  const pages = files.filter((file) => file.endsWith('.html') && file !== '404.html');
  expect(pages.length).toBeGreaterThan(300);
  expect(pages.filter((file) => !existsSync(join(FOLDER, file.replace(/html$/, 'md'))))).toEqual([]);
});

describe('llms.txt', () => {
  const list = read('llms.txt');

  it('begins with the title and the summary', () => {
    expect(list).toMatch(/^# webhook-backpressure\n\n> Protects Node\.js services .+\n\n## Start\n/);
  });

  it('links to all pages of the sidebar, which exist', () => {
    const targets = linked(list);
    expect(targets.length).toBeGreaterThan(groups.flatMap(({ entries }) => entries).length);
    expect(targets.filter((file) => !existsSync(join(FOLDER, file)))).toEqual([]);
    for (const { text } of groups.flatMap(({ entries }) => entries)) expect(list).toContain(`- [${text}](`);
  });
});

describe('llms-full.txt', () => {
  const all = read('llms-full.txt');

  it('contains each page of llms.txt that is not optional', () => {
    const [shown = ''] = read('llms.txt').split('## Optional');
    expect(linked(shown).length).toBeGreaterThan(40);
    expect(linked(shown).filter((file) => !all.includes(read(file)))).toEqual([]);
  });

  it('links to files that exist', () => {
    expect(linked(all).length).toBeGreaterThan(500);
    expect(linked(all).filter((file) => !existsSync(join(FOLDER, file)))).toEqual([]);
  });
});
