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

/** What a link or a path leads to, if that is not there. */
function missing(from: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(root, file))) return target;
  if (anchor === undefined || anchorsOf(page(file)).includes(anchor)) return undefined;
  return target;
}

describe.each(pages)('$path', ({ path, source, tokens }) => {
  it('links to pages, headings and pictures that exist', () => {
    const targets = [...tokensOf('link', tokens), ...tokensOf('image', tokens)].map(({ href }) => href);
    const broken = targets
      .filter((target) => !target.startsWith('https://'))
      .map((target) => missing(path, target));
    expect(broken.filter((target) => target !== undefined)).toEqual([]);
  });

  it('names paths that exist', () => {
    const named = tokensOf('codespan', tokens)
      .map(({ text }) => text)
      .filter((text) => /^[\w.@/-]+$/.test(text) && folders.includes(text.split('/')[0] ?? ''))
      // `docs/api` and the like are made by a command.
      .filter((text) => text !== 'docs/api');
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('names commands that exist', () => {
    const named = [...source.matchAll(/npm run (?:--\S+ )*([\w:]+)/g)].map(([, name]) => name as string);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

it('leads from the README to every page in docs', () => {
  const linked = new Set(tokensOf('link', page('README.md').tokens).map(({ href }) => href.split('#')[0]));
  const inDocs = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
  expect(inDocs.length).toBeGreaterThan(0);
  expect(inDocs.filter((path) => !linked.has(path))).toEqual([]);
});
