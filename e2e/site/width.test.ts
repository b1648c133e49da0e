import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openBrowser, OPEN_BROWSER_LIMIT_MS, type Opened } from '../../test/browser/open-browser.ts';
import { BASE, ORIGIN } from '../../site/src/addresses.ts';
import { root } from '../../tooling/packages.js';
import { serveSite } from './site-server.ts';

/** In the page: the pixels that the page and its tables are too wide. */
const WIDTHS = `(() => {
  const page = document.documentElement;
  const tables = [...document.querySelectorAll('.vp-doc table')];
  return {
    page: page.scrollWidth - page.clientWidth,
    tables: tables.map((table) => table.parentElement.scrollWidth - table.parentElement.clientWidth),
  };
})()`;

let opened: Opened;
let site: Awaited<ReturnType<typeof serveSite>>;

beforeAll(async () => {
  opened = await openBrowser();
  site = await serveSite();
}, OPEN_BROWSER_LIMIT_MS);

afterAll(async () => {
  site.close();
  await opened.close?.();
});

beforeEach(({ skip }) => {
  if (opened.browser === undefined) skip(opened.missing);
});

/** All pages, but of the API reference only those of the core, since the others are alike. */
function addresses(): string[] {
  const map = readFileSync(join(root, 'site/dist/sitemap.xml'), 'utf8');
  const all = [...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url = '']) => url);
  return all
    .map((url) => url.slice(`${ORIGIN}${BASE}`.length))
    .filter((path) => !path.startsWith('api/') || path.startsWith('api/core/'));
}

it.each([390, 1440])(
  'has no page wider than a screen of %i px, and no table wider than its column',
  async (width) => {
    if (opened.browser === undefined) throw new Error(opened.missing);
    const context = await opened.browser.newContext({ viewport: { width, height: 900 } });
    const page = await context.newPage();
    const wide: string[] = [];
    let tables = 0;
    for (const path of addresses()) {
      await page.goto(`${site.address}${path}`);
      const found = await page.evaluate<{ page: number; tables: number[] }>(WIDTHS);
      tables += found.tables.length;
      if (Math.max(found.page, ...found.tables) > 0) wide.push(`${path}: ${JSON.stringify(found)}`);
    }
    expect(wide).toEqual([]);
    expect(tables).toBeGreaterThan(200);
  },
);

it('names the columns of a table in each row on a phone', async () => {
  if (opened.browser === undefined) throw new Error(opened.missing);
  const page = await opened.browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${site.address}options`);
  const label = `getComputedStyle(document.querySelector('#maxwaitms td:last-child'), '::before').content`;
  expect(await page.evaluate(label)).toBe('"Effect: "');
});
