import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { anchorsOf, page, pages, tokensOf } from './pages.ts';

const folders = readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && entry.name !== 'node_modules' ? [entry.name] : [],
);

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** npm shows the READMEs of the packages without the repository around them, so their links name it. */
const REPOSITORY = 'https://github.com/webhook-backpressure/webhook-backpressure';

/** The target of a link, if it does not exist. */
function missing(from: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const file = fileOf(from, path);
  if (!existsSync(join(root, file))) return target;
  if (anchor === undefined || anchorsOf(page(file)).includes(anchor)) return undefined;
  return target;
}

function fileOf(from: string, path: string): string {
  if (path === '') return from;
  if (!path.startsWith(REPOSITORY)) return join(dirname(from), path);
  return path.slice(REPOSITORY.length).replace(/^\/blob\/main\//, '') || 'README.md';
}

describe.each(pages)('$path', ({ path, source, tokens }) => {
  it('links to pages, headings and pictures that exist', () => {
    const targets = [...tokensOf('link', tokens), ...tokensOf('image', tokens)].map(({ href }) => href);
    const broken = targets
      .filter((target) => !target.startsWith('https://') || target.startsWith(REPOSITORY))
      .map((target) => missing(path, target));
    expect(broken.filter((target) => target !== undefined)).toEqual([]);
  });

  it('names paths that exist', () => {
    const named = tokensOf('codespan', tokens)
      .map(({ text }) => text)
      .filter((text) => /^[\w.@/-]+$/.test(text) && folders.includes(text.split('/')[0] ?? ''))
      // `npm run site` writes it.
      .filter((text) => text !== 'docs/api');
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('names commands that exist', () => {
    const named = [...source.matchAll(/npm run (?:--\S+ )*([\w:]+)/g)].map(([, name]) => name as string);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

it('leads from the README, or from the list of all pages that it links to, to every page in docs', () => {
  const linksOf = (path: string): string[] =>
    tokensOf('link', page(path).tokens).map(({ href }) => join(dirname(path), href.split('#')[0] ?? ''));
  expect(linksOf('README.md')).toContain('docs/README.md');
  const linked = new Set([...linksOf('README.md'), ...linksOf('docs/README.md')]);
  const inDocs = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
  expect(inDocs.length).toBeGreaterThan(0);
  expect(inDocs.filter((path) => !linked.has(path))).toEqual([]);
});
