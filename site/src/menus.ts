import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedEntries, publishedPackages, root } from '../../tooling/packages.js';
import { REPOSITORY, routeOf } from './addresses.ts';
import { additions, frameworks, groups, others, parts, type Entry } from './navigation.ts';

interface Link {
  readonly text: string;
  readonly link: string;
}

interface Menu {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly (Link | Menu)[];
}

function linkTo({ text, source }: Entry): Link {
  const route = routeOf(source);
  if (route === undefined) throw new Error(`site/src/navigation.ts has ${source}, which has no address.`);
  return { text, link: `/${route.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}` };
}

const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as {
  version: string;
};

export const nav: readonly (Link | Menu)[] = [
  { text: 'Quick starts', items: frameworks.map(linkTo) },
  { text: 'Packages', items: [...additions, ...parts, ...others].map(linkTo) },
  { text: 'Options', link: '/options' },
  { text: 'API', link: '/api/' },
  {
    text: version,
    items: [
      { text: 'Versions and support', link: '/support' },
      { text: 'Releases', link: `${REPOSITORY}/releases` },
      { text: 'Changes of the core', link: `${REPOSITORY}/blob/main/packages/core/CHANGELOG.md` },
    ],
  },
];

const apiPackages = publishedPackages()
  .filter((published) => documentedEntries(published).length > 0)
  .map(({ manifest: { name } }) => name.replace(/^@.*\//, ''))
  .map((name) => ({ text: name, link: `/api/${name}/` }));

export const sidebar: Readonly<Record<string, readonly (Link | Menu)[]>> = {
  '/api/': [{ text: 'API reference', items: apiPackages }],
  '/': [
    // The theme opens the group of the shown page.
    ...groups.map(({ text, entries }) => ({ text, collapsed: true, items: entries.map(linkTo) })),
    { text: 'API reference', collapsed: true, items: apiPackages },
  ],
};
