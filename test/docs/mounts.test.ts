import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { pages, tokensOf } from './pages.ts';

/** What users copy: the code of the pages, and the examples. */
const copied = [
  ...pages.flatMap(({ path, tokens }) => tokensOf('code', tokens).map(({ text }) => ({ path, text }))),
  ...readdirSync(join(root, 'examples'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ path: name, text: readFileSync(join(root, 'examples', name), 'utf8') })),
];
const right = copied.map(({ path, text }) => ({ path, text: text.replaceAll(/^.*\/\/ throws$/gm, '') }));

it('every middleware and every inbox in the docs and the examples is mounted at a path', () => {
  const wrong = right.flatMap(({ path, text }) => {
    const made = /(?:const (\w+) = )?webhook(?:Backpressure|Inbox)\(([^;]*?)\)/g;
    const without = [...text.matchAll(made)].filter(([, , options = '']) => !/\bpath: /.test(options));
    const names = ['webhookBackpressure', 'webhookInbox', ...without.map(([, name = '-']) => name)];
    const calls = [...text.matchAll(/\b(?:app|server|new \w+\(\)|express\(\))\.use\((\w+)/g)];
    return calls.flatMap(([call, name = '']) => (names.includes(name) ? [`${path}: ${call}`] : []));
  });
  expect(right.filter(({ text }) => /\.use\('\/\w+', (?:backpressure|webhookB)/.test(text))).not.toEqual([]);
  expect(wrong).toEqual([]);
});
