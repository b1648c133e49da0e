import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hrefOf, OFF_SITE, routeOf } from '../../site/src/addresses.ts';
import { descriptionOf } from '../../site/src/description.ts';
import { nav, sidebar } from '../../site/src/menus.ts';
import { groups } from '../../site/src/navigation.ts';
import { wordsOf } from '../../site/src/search.ts';
import { publishedPackages, root } from '../../tooling/packages.js';
import { pages } from './pages.ts';

const REPOSITORY = 'https://github.com/webhook-backpressure/webhook-backpressure';
const listed = groups.flatMap(({ entries }) => entries.map(({ source }) => source));

describe('the sidebar of the site', () => {
  it('has every page of docs and every README of a package, once', () => {
    const expected = pages
      .map(({ path }) => path)
      .filter((path) => /^(docs\/[^/]+|packages\/[^/]+\/README)\.md$/.test(path));
    expect(expected.length).toBeGreaterThan(30);
    expect(listed.filter((path) => expected.includes(path)).sort()).toEqual(expected);
  });

  it('has the API reference of every package', () => {
    const links = JSON.stringify(sidebar);
    const names = publishedPackages().map(({ manifest }) => manifest.name.replace(/^@.*\//, ''));
    // The public names of base are in the reference of core.
    expect(names.filter((name) => !links.includes(`"/api/${name}/"`))).toEqual(['base']);
  });
});

it('names in the menu every package that users install', () => {
  const links = JSON.stringify(nav);
  const folders = publishedPackages().map(({ folder }) => folder);
  expect(folders.filter((folder) => !links.includes(`"/packages/${folder}"`))).toEqual([]);
});

describe('an address on the site', () => {
  it.each([
    ['docs/options.md', 'senders.md#known-senders', '/senders.md#known-senders'],
    ['docs/options.md', '../packages/koa/README.md', '/packages/koa.md'],
    ['README.md', 'docs/inbox.md', '/inbox.md'],
    ['docs/inbox.md', '../README.md#quick-start', '/start.md#quick-start'],
    ['test/simulation/README.md', 'reports/README.md', '/simulation/reports/index.md'],
    [
      'packages/koa/README.md',
      `${REPOSITORY}/blob/main/docs/errors.md#err_wbp_role`,
      '/errors.md#err_wbp_role',
    ],
  ])('of %s with the target %s is %s', (source, href, expected) => {
    expect(hrefOf(source, href)).toBe(expected);
  });

  it.each([
    ['docs/inbox.md', '../examples/worker.js', `${REPOSITORY}/blob/main/examples/worker.js`],
    ['bench/README.md', '../packages/planner/src', `${REPOSITORY}/tree/main/packages/planner/src`],
    ['README.md', 'AGENTS.md#writing', `${REPOSITORY}/blob/main/AGENTS.md#writing`],
  ])('does not exist for a file that is no page: %s links with %s to GitHub', (source, href, expected) => {
    expect(hrefOf(source, href)).toBe(expected);
  });

  it.each(['#retries', 'https://hookdeck.com', 'mailto:security@example.com', REPOSITORY])(
    'does not replace %s',
    (href) => {
      expect(hrefOf('docs/options.md', href)).toBe(href);
    },
  );

  it('exists for every page that is not for contributors', () => {
    const without = pages.map(({ path }) => path).filter((path) => routeOf(path) === undefined);
    expect(without.filter((path) => !path.startsWith('test/') && !OFF_SITE.includes(path))).toEqual([]);
  });

  it('belongs to one page', () => {
    const routes = pages.flatMap(({ path }) => routeOf(path) ?? []);
    expect(new Set(routes).size).toBe(routes.length);
  });
});

describe('the description of a page', () => {
  it('is its first paragraph without Markdown', () => {
    expect(descriptionOf('# Title\n\nSee [the `queue`](queue.md) of **all**\nsenders.\n\nMore.')).toBe(
      'See the queue of all senders.',
    );
  });

  it('skips pictures, lists and code before it', () => {
    expect(descriptionOf('# Title\n\n<picture>\n</picture>\n\n- a\n\n```sh\nnpm\n```\n\nText.')).toBe(
      'Text.',
    );
  });

  it('ends with a sentence where it is too long', () => {
    const long = `${'A sentence of some words. '.repeat(5)}${'More '.repeat(40)}`;
    expect(descriptionOf(long)).toBe('A sentence of some words. '.repeat(5).trim());
  });

  it('exists for every page of docs', () => {
    const inDocs = pages.filter(({ path }) => path.startsWith('docs/'));
    const without = inDocs.filter(({ source }) => descriptionOf(source) === undefined);
    expect(without.map(({ path }) => path)).toEqual([]);
  });
});

describe('the search', () => {
  it('finds a name as a whole and by its parts', () => {
    expect(wordsOf('ERR_WBP_CAPACITY: set `maxWaitMs`.')).toEqual([
      ...['ERR_WBP_CAPACITY', 'ERR', 'WBP', 'CAPACITY'],
      ...['set', 'maxWaitMs', 'max', 'Wait', 'Ms'],
    ]);
  });
});

it('has a picture of a delivery whose texts have at least 12 px on a phone of 390 px', () => {
  const picture = readFileSync(join(root, 'docs/delivery.svg'), 'utf8');
  const width = Number(/viewBox="0 0 (\d+) /.exec(picture)?.[1]);
  const sizes = [...picture.matchAll(/(?:font: |font-size: )(\d+)px/g)].map(([, size]) => Number(size));
  // The text of a page begins and ends 24 px from the sides of the screen.
  expect((Math.min(...sizes) * (390 - 48)) / width).toBeGreaterThanOrEqual(12);
});
