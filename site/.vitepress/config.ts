import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tooling/packages.js';
import { accessibleTheme } from '../src/accessible-theme.ts';
import { BASE, OFF_SITE, ORIGIN, REPOSITORY, routeOf } from '../src/addresses.ts';
import { writeForAgents } from '../src/agents.ts';
import { descriptionOf } from '../src/description.ts';
import { forSite, type MarkdownIt } from '../src/markdown.ts';
import { nav, sidebar } from '../src/menus.ts';
import { ranking, wordsOf } from '../src/search.ts';
import { searchable } from '../src/searchable.ts';
import { withoutTreeShaking } from '../src/server-bundle.ts';
import { slug } from 'github-slugger';

/** The parts of the data of a page that are used here. */
interface PageData {
  /** Its path on the site, with the extension. */
  readonly relativePath: string;
  /** Its path in the repository. */
  readonly filePath: string;
  readonly title: string;
  description: string;
  readonly frontmatter: Record<string, unknown>;
}

const { description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  description: string;
};
const TITLE = 'webhook-backpressure';
const isApi = (path: string): boolean => path.startsWith('docs/api/');

function addressOf({ relativePath }: PageData): string {
  return `${ORIGIN}${BASE}${relativePath.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;
}

export default {
  lang: 'en',
  title: TITLE,
  description,
  base: BASE,
  cleanUrls: true,
  // The names of all pages' files in one file, not in every page.
  metaChunk: true,
  srcDir: '..',
  outDir: './dist',
  srcExclude: OFF_SITE,
  rewrites: (page: string): string => {
    const route = routeOf(page);
    if (route === undefined) throw new Error(`${page} has no address: add one to site/src/addresses.ts.`);
    return route;
  },
  sitemap: { hostname: `${ORIGIN}${BASE}` },
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}icon.svg` }],
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: TITLE }],
    ['meta', { property: 'og:image', content: `${ORIGIN}${BASE}preview.png` }],
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ],
  markdown: {
    anchor: { slugify: (text: string) => slug(text) },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (markdown: MarkdownIt) => {
      forSite(markdown);
    },
  },
  transformPageData(page: PageData): Partial<PageData> {
    if (page.filePath === 'site/index.md') return { description };
    if (isApi(page.filePath)) return { frontmatter: { ...page.frontmatter, editLink: false } };
    const found = descriptionOf(readFileSync(join(root, page.filePath), 'utf8'));
    return page.description === '' && found !== undefined ? { description: found } : {};
  },
  transformHead({ pageData, title }: { pageData: PageData; title: string }): unknown[] {
    if (pageData.relativePath === '404.md') return [];
    return [
      ['link', { rel: 'canonical', href: addressOf(pageData) }],
      ['link', { rel: 'alternate', type: 'text/markdown', href: `${BASE}${pageData.relativePath}` }],
      ['meta', { property: 'og:url', content: addressOf(pageData) }],
      ['meta', { property: 'og:title', content: title }],
      ['meta', { property: 'og:description', content: pageData.description || description }],
    ];
  },
  buildEnd({ outDir, pages }: { outDir: string; pages: readonly string[] }): void {
    writeForAgents(outDir, pages, description);
    copyFileSync(join(root, 'docs/images/dashboard-light.png'), join(outDir, 'preview.png'));
  },
  vite: {
    plugins: [accessibleTheme(), withoutTreeShaking()],
    publicDir: join(root, 'site/public'),
    // The planner comes from its sources.
    resolve: { conditions: ['@webhook-backpressure/source'] },
    // Pictures stay files, so that style.css recognizes them by their names. The largest chunk is the search index.
    build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 3_000 },
  },
  themeConfig: {
    nav,
    sidebar,
    logo: '/icon.svg',
    outline: { level: [2, 3] },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: 'Edit this page' },
    externalLinkIcon: true,
    search: {
      provider: 'local',
      options: {
        detailedView: false,
        _render: searchable,
        miniSearch: {
          options: { tokenize: wordsOf },
          searchOptions: ranking,
        },
      },
    },
    footer: { message: 'MIT license' },
    notFound: {
      title: 'Page not found',
      quote: 'No page has this address. Search for it, or start from the home page.',
      linkText: 'Home page',
      linkLabel: 'Home page',
    },
  },
};
