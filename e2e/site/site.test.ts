import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { groups } from '../../site/src/navigation.ts';
import { Reader, type View } from './reader.ts';
import { openSite } from './opened-site.ts';

const VIEWS: readonly View[] = [
  { width: 1440, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
];
const PAGES = ['', 'start', 'inbox', 'options', 'many-machines', 'api/core/interfaces/IntakeOptions'];

const site = openSite();
let reader: Reader | undefined;

afterEach(async () => {
  if (reader === undefined) return;
  const { errors, requests } = reader;
  await reader.close();
  reader = undefined;
  expect(errors).toEqual([]);
  expect([...new Set(requests.map((url) => new URL(url).origin))]).toEqual([new URL(site.address).origin]);
});

async function read(view: View): Promise<Reader> {
  reader = await Reader.open(site.browser, site.address, view);
  return reader;
}

describe.each(VIEWS)('on a screen of $width px, $colorScheme, the site', (view) => {
  it.each(PAGES)('is accessible and fits at /%s', async (path) => {
    const { page } = await read(view);
    await reader?.visit(path);
    const theme = await page.locator('html').getAttribute('class');
    expect(theme ?? '').toBe(view.colorScheme === 'dark' ? 'dark' : '');
    expect(await reader?.violations()).toEqual([]);
    expect(await reader?.overflow()).toBe(0);
  });

  it('is accessible while a reader searches', async () => {
    const { page } = await read(view);
    await reader?.visit('options');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('maxWaitMs');
    await page.getByRole('option').first().waitFor();
    expect(await reader?.violations()).toEqual([]);
  });
});

describe('the search', () => {
  it.each([
    ['ERR_WBP_CAPACITY', '/errors#err_wbp_capacity'],
    ['closeOnSignals', '/options#closeonsignals'],
    ['PgBouncer', '/many-machines#behind-pgbouncer'],
    ['priority customer', '/troubleshooting#a-priority-customer-waits-behind-others'],
    ['flooding tenant', '/troubleshooting#a-flooding-tenant-or-a-noisy-neighbor'],
    ['database connections pods', '/many-machines#five-database-connections-over-four-pods'],
    ['next stripe', '/web#nextjs-with-stripe-end-to-end'],
    ['postgres down', '/many-machines#postgresql-is-down-for-an-hour'],
    ['replay failed', '/inbox#replay-yesterdays-failures'],
    ['bigger share', '/options#a-bigger-share-for-one-customer-weight'],
    ['weight', '/options#a-bigger-share-for-one-customer-weight'],
    ['retry-after', '/refusals#retry-after'],
    ['shutdown', '/frameworks#graceful-shutdown'],
    ['sigterm kubernetes', '/production#kubernetes'],
    ['dead letter', '/inbox#dead-letters'],
  ])('finds %s', async (words, expected) => {
    const { page } = await read(VIEWS[0] as View);
    await reader?.visit('');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill(words);
    const results = page.getByRole('option');
    await results.first().waitFor();
    const first = (await results.all()).slice(0, 3);
    const addresses = await Promise.all(first.map((result) => result.getAttribute('href')));
    expect(addresses).toContainEqual(expect.stringContaining(expected));
  });
});

it('finds an option first where it is explained', async () => {
  const { page } = await read(VIEWS[0] as View);
  await reader?.visit('');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('maxWaitMs');
  const first = page.getByRole('option').first();
  await first.click();
  await page.waitForURL(/\/options#maxwaitms$/);
  await page.locator('#maxwaitms').getByText('The longest wait in the queue').waitFor();
});

describe('the home page', () => {
  const bottomOf = async (page: Page, selector: string): Promise<number> => {
    const { y, height } = (await page.locator(selector).first().boundingBox()) ?? { y: NaN, height: NaN };
    return y + height;
  };

  it('shows the code and the live page on a desktop without scrolling', async () => {
    const { page } = await read(VIEWS[0] as View);
    await reader?.visit('');
    expect(await bottomOf(page, '.first-look .only-light')).toBeLessThan(900);
    expect(await bottomOf(page, '.first-look .vp-code-group')).toBeLessThan(900);
    await page.locator('.first-look').getByText('Inbox', { exact: true }).click();
    await page.locator('.first-look').getByText('webhookInbox').first().waitFor();
  });

  it('shows lines of code on a phone without scrolling', async () => {
    const { page } = await read(VIEWS[2] as View);
    await reader?.visit('');
    expect(await bottomOf(page, '.first-look .line:nth-of-type(9)')).toBeLessThan(844);
  });
});

describe('the sidebar', () => {
  const GROUPS = groups.map(({ text }) => text);

  it('has at most 12 entries in the beginning, and opens the group of the page', async () => {
    const { page } = await read(VIEWS[0] as View);
    await reader?.visit('start');
    const sidebar = page.getByRole('complementary');
    const entries = await sidebar.locator('.item:visible').allTextContents();
    expect(entries.length).toBeLessThanOrEqual(12);
    expect(entries.map((text) => text.trim())).toEqual(expect.arrayContaining(['Get started', ...GROUPS]));
    await reader?.visit('options');
    await sidebar.getByRole('link', { name: 'Options', exact: true }).waitFor();
    expect(await sidebar.getByRole('link', { name: 'Get started' }).isVisible()).toBe(false);
  });

  it('shows every listed page once its group is open', async () => {
    const { page } = await read(VIEWS[0] as View);
    await reader?.visit('start');
    const sidebar = page.getByRole('complementary');
    const closed = sidebar.getByRole('button', { expanded: false });
    while ((await closed.count()) > 0) await closed.first().press('Enter');
    const names = await sidebar.getByRole('link').allTextContents();
    expect(names.map((name) => name.trim())).toEqual(
      expect.arrayContaining(groups.flatMap(({ entries }) => entries.map(({ text }) => text))),
    );
  });
});

describe('a reader without a mouse', () => {
  it('opens the search, chooses a result and gets to its page', async () => {
    const { page } = await read(VIEWS[0] as View);
    await reader?.visit('');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ERR_WBP_CAPACITY');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/errors#err_wbp_capacity$/);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('skips to the content, or gets to the sidebar', async () => {
    const { page } = await read(VIEWS[0] as View);
    await reader?.visit('options');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    let steps = 0;
    while ((await focused(page)) !== 'Start' && steps < 60) {
      await page.keyboard.press('Tab');
      steps += 1;
    }
    expect(steps).toBeLessThan(60);
  });
});

it('says that a page does not exist', async () => {
  const { page } = await read(VIEWS[2] as View);
  await reader?.visit('missing/page');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.getByRole('link', { name: 'Home page' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  // Chromium reports the status in the console.
  expect(reader?.errors.splice(0)).toEqual([expect.stringContaining('404')]);
});

it('switches to dark colors and keeps them', async () => {
  const { page } = await read(VIEWS[0] as View);
  await reader?.visit('options');
  await page.getByRole('switch').first().click();
  await reader?.visit('dashboard');
  expect(await page.locator('html').getAttribute('class')).toBe('dark');
  expect(await page.locator('.only-dark').first().isVisible()).toBe(true);
  expect(await page.locator('.only-light').first().isVisible()).toBe(false);
});

async function focused(page: Page): Promise<string> {
  return (await page.locator(':focus').textContent())?.trim() ?? '';
}
