import axe, { type AxeResults } from 'axe-core';
import { describe, expect, it } from 'vitest';
import { sendBurst } from './burst.ts';
import { inBrowser, POLL } from './in-browser.ts';

const LIMIT_MS = 120_000;
/** Each width and each scheme once: the colors do not depend on the width. */
const VIEWS = [
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const;

const at = inBrowser();

/** What axe-core finds serious or critical. */
async function violations(): Promise<string[]> {
  const { page } = at.live;
  // Through the debugger: the content security policy of the page forbids foreign scripts.
  await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate<AxeResults>('axe.run(document)');
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
    );
}

/** How far the page can be scrolled sideways, in pixels. */
async function overflow(): Promise<number> {
  const root = 'document.documentElement';
  return Number(await at.live.page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`));
}

/** Checks what is shown now, in all views. */
async function check(): Promise<void> {
  const { page } = at.live;
  for (const { width, colorScheme } of VIEWS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    expect([width, colorScheme, await violations()]).toEqual([width, colorScheme, []]);
    expect([width, await overflow()]).toEqual([width, 0]);
  }
}

describe('the live page on a screen and on a phone, light and dark', () => {
  it(
    'is accessible and fits its width while the intake sheds',
    async () => {
      const { live, receiver } = at;
      const tenants = Array.from({ length: 70 }, (_, index) => `shop-${String(index % 5)}`);
      const answered = sendBurst(receiver, '/webhooks', tenants);
      await expect.poll(() => live.state.textContent(), POLL).toBe('Shedding');
      await check();
      receiver.gate.open();
      await answered;
    },
    LIMIT_MS,
  );

  it(
    'is accessible and fits its width with dead letters and an error at a field',
    async () => {
      const { live, receiver } = at;
      await sendBurst(receiver, '/inbox', ['shop', 'a key '.repeat(30)]);
      at.expectErrors(/status of 400 .*\/update\)$/);
      await live.choose('orders');
      const letters = live.part(/^Dead letters \(/);
      await expect.poll(() => letters.locator('tbody tr').count(), POLL).toBe(2);
      await live.levers.getByLabel(/^Capacity/).fill('0');
      await live.levers.getByRole('button', { name: 'Apply' }).click();
      await live.levers.getByRole('link', { name: 'ERR_WBP_CAPACITY' }).waitFor();
      await check();

      await letters.getByRole('button', { name: 'Show', exact: true }).first().click();
      await live.page.getByRole('dialog', { name: 'Dead letter' }).waitFor();
      await check();
    },
    LIMIT_MS,
  );
});
