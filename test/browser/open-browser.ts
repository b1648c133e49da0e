import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { findChromium, thisMachine } from './chromium.ts';

const ARGUMENTS = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-crash-reporter'],
];

/** The time for finding, maybe installing, and starting a browser. */
export const OPEN_BROWSER_LIMIT_MS = 1_200_000;

/** A headless browser with an empty profile, or the reason why there is none. */
export type Opened =
  | { readonly browser: Browser; readonly close: () => Promise<void>; readonly missing?: never }
  | { readonly browser?: never; readonly close?: never; readonly missing: string };

/** Opens a browser. Where none is installed, it is installed if possible. */
export async function openBrowser(): Promise<Opened> {
  const { path, missing } = await findChromium(thisMachine());
  if (path === undefined) return { missing };
  // A user without a home, as in containers, can't write where Chromium keeps its caches.
  const home = mkdtempSync(join(tmpdir(), 'chromium-home-'));
  const browser = await chromium.launch({
    executablePath: path,
    // It opens nothing but pages of the tests, and its sandbox works neither as root nor in most containers.
    chromiumSandbox: false,
    args: ARGUMENTS,
    env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home },
  });
  return {
    browser,
    async close() {
      await browser.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
