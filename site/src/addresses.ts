import { posix } from 'node:path';

export const REPOSITORY = 'https://github.com/webhook-backpressure/webhook-backpressure';
export const BASE = '/webhook-backpressure/';
export const ORIGIN = 'https://webhook-backpressure.github.io';

/** Pages for contributors, in the patterns of VitePress. Others must have an address. */
export const OFF_SITE: readonly string[] = [
  ...['AGENTS.md', 'CONTRIBUTING.md', 'RELEASING.md', '**/CHANGELOG.md'],
  ...['packages/*/{api,types,page,src}/**', 'test/!(simulation)/**', 'temp/**', '**/coverage/**'],
];

/** Where a file of the repository is on the site: the first pattern that matches, in JavaScript's syntax. */
const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/^site\/index\.md$/, 'index.md'],
  [/^README\.md$/, 'start.md'],
  [/^SECURITY\.md$/, 'security.md'],
  [/^docs\/README\.md$/, 'docs.md'],
  [/^docs\/(.+\.md)$/, '$1'],
  [/^packages\/([^/]+)\/README\.md$/, 'packages/$1.md'],
  [/^examples\/README\.md$/, 'examples.md'],
  [/^test\/(simulation(?:\/reports)?)\/README\.md$/, '$1/index.md'],
  [/^test\/(simulation\/reports\/[^/]+\.md)$/, '$1'],
  [/^bench\/README\.md$/, 'bench/index.md'],
  [/^(bench\/(?:[^/]+\/)?[^/]+\.md)$/, '$1'],
];

/**
 * The path of a page on the site, still with its extension; undefined for a file that only the repository shows.
 *
 * @param source - its path from the top of the repository
 */
export function routeOf(source: string): string | undefined {
  const found = ROUTES.find(([pattern]) => pattern.test(source));
  return found === undefined ? undefined : source.replace(found[0], found[1]);
}

/**
 * The target of a link on the site: a page of it as an absolute path, a file without a page on GitHub. Links within a
 * page and to other hosts stay as they are.
 *
 * @param source - the page with the link, from the top of the repository
 */
export function hrefOf(source: string, href: string): string {
  const inRepository =
    /^https:\/\/github\.com\/webhook-backpressure\/webhook-backpressure\/(?:blob|tree)\/main\/(.+)$/;
  const [, named] = inRepository.exec(href) ?? [];
  if (named === undefined && (href.startsWith('#') || /^[a-z]+:/.test(href))) return href;
  const [path = '', anchor] = (named ?? posix.join(posix.dirname(source), href)).split('#');
  const route = routeOf(path);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (route !== undefined) return `/${route}${hash}`;
  return `${REPOSITORY}/${posix.extname(path) === '' ? 'tree' : 'blob'}/main/${path}${hash}`;
}
