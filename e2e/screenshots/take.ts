import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { openBrowser } from '../../test/browser/open-browser.ts';

const FOLDER = join(root, 'docs/images');
/** Down to the end of the second row of charts. */
const SIZE = { width: 1440, height: 940 };
/** So that the curves show the first burst of the demo as well, and how it ended. */
const SHOWN_FROM_S = 70;
const MAX_BYTES = 200_000;

it('takes the pictures of the live page, during the second burst of the demo', async () => {
  const { browser, close, missing } = await openBrowser();
  if (browser === undefined) throw new Error(missing);
  const demo = spawn(process.execPath, [join(root, 'demo/dist/main.js'), '--watch'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(demo, 'exit');
  try {
    const url = await new Promise<string>((resolve) => {
      createInterface({ input: demo.stdout }).on('line', (line) => {
        if (line.includes('http://')) resolve(line.trim());
      });
    });
    const page = await browser.newPage({ viewport: SIZE });
    await page.goto(url);
    // One minute, so that the curves fill the charts.
    await page.getByRole('group', { name: 'Time shown' }).getByRole('radio', { name: '1 min' }).check();
    const isShedding = async (): Promise<boolean> =>
      (await page.locator('.state-word').textContent()) === 'Shedding';
    const from = performance.now() + SHOWN_FROM_S * 1000;
    await expect
      .poll(async () => performance.now() > from && (await isShedding()), { timeout: 180_000, interval: 500 })
      .toBe(true);

    mkdirSync(FOLDER, { recursive: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // The charts are drawn with the other colors.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const picture = await page.screenshot();
      expect(picture.length).toBeLessThan(MAX_BYTES);
      writeFileSync(join(FOLDER, `dashboard-${colorScheme}.png`), picture);
    }
  } finally {
    demo.kill('SIGINT');
    await ended;
    await close();
  }
});
