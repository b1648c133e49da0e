import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { openBrowser, OPEN_BROWSER_LIMIT_MS, type Opened } from '../../test/browser/open-browser.ts';
import { serveSite } from './site-server.ts';

/** Serves the built site and opens a browser for the tests of a file, which are skipped without a browser. */
export function openSite(): { readonly browser: Browser; readonly address: string } {
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

  return {
    get browser() {
      if (opened.browser === undefined) throw new Error(opened.missing);
      return opened.browser;
    },
    get address() {
      return site.address;
    },
  };
}
