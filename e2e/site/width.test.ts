import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BASE, ORIGIN } from '../../site/src/addresses.ts';
import { root } from '../../tooling/packages.js';
import { openSite } from './opened-site.ts';

/** In the page: the pixels that the page and its tables are too wide. */
const WIDTHS = `(() => {
  const page = document.documentElement;
  const tables = [...document.querySelectorAll('.vp-doc table')];
  return {
    page: page.scrollWidth - page.clientWidth,
    tables: tables.map((table) => table.parentElement.scrollWidth - table.parentElement.clientWidth),
  };
})()`;

const site = openSite();

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
    const context = await site.browser.newContext({ viewport: { width, height: 900 } });
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
  const page = await site.browser.newPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${site.address}options`);
  const label = `getComputedStyle(document.querySelector('#maxwaitms td:last-child'), '::before').content`;
  expect(await page.evaluate(label)).toBe('"Effect: "');
});
