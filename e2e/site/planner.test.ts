import { gzipSync } from 'node:zlib';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { plan, type Figures } from '@webhook-backpressure/planner';
import { requestOf } from '@webhook-backpressure/planner/parts';
import { duration, grouped, percent } from '../../packages/planner/src/base/format.ts';
import { recoveryOf } from '../../packages/planner/src/output/text.ts';
import { root } from '../../tooling/packages.js';
import { Reader, type View } from './reader.ts';
import { openSite } from './opened-site.ts';

const DESKTOP: View = { width: 1440, colorScheme: 'light' };
const EXAMPLE = '?senders=shopify:70,github:30&burst=2000/2s&normal=5/s&service=80ms&concurrency=10';
const LIMIT_BYTES = 250_000;
/** A plan takes seconds, and several times as many on a busy machine. */
const PLAN_LIMIT_MS = 100_000;

const site = openSite();
let reader: Reader | undefined;

afterEach(async () => {
  const { errors = [], requests = [] } = reader ?? {};
  await reader?.close();
  reader = undefined;
  expect(errors).toEqual([]);
  const { origin } = new URL(site.address);
  expect(requests.filter((url) => new URL(url).origin !== origin)).toEqual([]);
});

/** Opens the home page with a scenario, and scrolls to the planner. */
async function visit(search = '', view = DESKTOP): Promise<Locator> {
  await reader?.close();
  reader = await Reader.open(site.browser, site.address, view);
  await reader.visit(search);
  const planner = reader.page.locator('.planner');
  await planner.scrollIntoViewIfNeeded();
  return planner;
}

async function finished(planner: Locator): Promise<void> {
  await planner.getByRole('heading', { name: 'Recommended: ' }).waitFor({ timeout: PLAN_LIMIT_MS });
}

/** The cells of the table of figures, by row. */
async function shownFigures(planner: Locator): Promise<string[][]> {
  const rows = await planner.getByRole('group', { name: 'Figures' }).locator('tbody tr').all();
  return Promise.all(rows.map((row) => row.locator('th, td').allTextContents()));
}

/** What the command finds for the scenario of an address. */
async function planOf(search: string): Promise<{ figures: string[][]; reasons: readonly string[] }> {
  const planned = await plan(requestOf(new Map(new URLSearchParams(search))));
  const { runs, recommendation, warnings } = planned;
  const cells = ({ lost, events, attemptsPerEvent, delayS }: Figures): string[] => [
    ...[grouped(lost), percent(lost, events), attemptsPerEvent.toFixed(2)],
    ...[duration(delayS.p50), duration(delayS.p99)],
  ];
  const off = (is: boolean): string => (is ? 'switched off' : '');
  const figures = runs.flatMap((run) => [
    [...cells(run), off(run.senders.some(({ switchedOff }) => switchedOff))],
    ...(run.senders.length === 1 ? [] : run.senders).map((sender) => [
      ...cells(sender),
      off(sender.switchedOff),
    ]),
  ]);
  return { figures, reasons: [...recommendation.reasons, ...recoveryOf(planned), ...warnings] };
}

/** Compares the columns that each line has. */
async function expectPlanOf(search: string, planner: Locator): Promise<void> {
  const { figures, reasons } = await planOf(search);
  const shown = (await shownFigures(planner)).map((cells) => [...cells.slice(1, 6), cells.at(-1)]);
  expect(shown).toEqual(figures);
  expect(await planner.locator('.reasons li').allTextContents()).toEqual(reasons);
}

async function choose(planner: Locator, label: string, text: string): Promise<void> {
  await planner.getByLabel(label, { exact: true }).fill(text);
}

describe('the planner of the home page', () => {
  it('shows the figures, the reasons and the code that the command prints', async () => {
    const planner = await visit();
    await finished(planner);
    await expectPlanOf(EXAMPLE, planner);
    expect(await planner.getByText('webhookInbox({ store: sqliteStore').isVisible()).toBe(true);
    expect(await planner.locator('figure').count()).toBe(6);
    expect(await planner.getByText('npx @webhook-backpressure/planner').textContent()).toBe(
      'npx @webhook-backpressure/planner --senders shopify:70,github:30 --burst 2000/2s --normal 5/s --service 80ms --concurrency 10',
    );
  });

  it('plans what a visitor chooses, and a link to it shows the same', async () => {
    const planner = await visit();
    await finished(planner);
    await planner.getByRole('button', { name: 'Remove sender 2' }).click();
    await planner.getByLabel('Sender 1', { exact: true }).selectOption('stripe');
    await choose(planner, 'Deliveries of the burst', '800');
    await choose(planner, 'Time of the burst', '4s');
    await choose(planner, 'Ordinary traffic', '');
    await choose(planner, 'Time of a handler, on average', '20ms:constant');
    await choose(planner, 'Concurrent handlers', '3');
    await planner.getByRole('button', { name: 'Plan' }).click();
    await finished(planner);
    const chosen = '?senders=stripe:70&burst=800/4s&service=20ms:constant&concurrency=3';
    expect(new URL(reader?.page.url() ?? '').search).toBe(chosen);
    await expectPlanOf(chosen, planner);
    const before = await shownFigures(planner);
    const linked = await visit(`${chosen}#plan-for-a-burst`);
    await finished(linked);
    expect(await shownFigures(linked)).toEqual(before);
    expect(await linked.getByLabel('Sender 1', { exact: true }).inputValue()).toBe('stripe');
  });

  it('shows the first figures before the plan is complete, and a new input ends the computation', async () => {
    const planner = await visit('?senders=github&burst=50000/40s&service=80ms#plan-for-a-burst');
    await planner.getByRole('rowheader', { name: 'hold, defaults' }).waitFor({ timeout: PLAN_LIMIT_MS });
    expect(await planner.getByRole('progressbar').isVisible()).toBe(true);
    expect(await planner.getByRole('heading', { name: 'Recommended: ' }).count()).toBe(0);
    await choose(planner, 'Deliveries of the burst', '100');
    await planner.getByLabel('Deliveries of the burst').press('Enter');
    await finished(planner);
    await expectPlanOf('?senders=github&burst=100/40s&service=80ms', planner);
    expect(reader?.page.workers()).toHaveLength(1);
  });

  it.each([
    ['Time of the burst', '2'],
    ['Time of a handler, on average', '80'],
    ['Concurrent handlers', '0'],
    ['Ordinary traffic', '1000000/s'],
    ['Share of sender 1', 'half'],
  ])('shows the error of the command for %s %s, and no figures', async (label, text) => {
    const planner = await visit();
    await finished(planner);
    await choose(planner, label, text);
    await planner.getByLabel(label).press('Enter');
    const alert = planner.getByRole('alert');
    await alert.filter({ hasText: /\.$/ }).waitFor();
    const { search } = new URL(reader?.page.url() ?? '');
    expect(() => requestOf(new Map(new URLSearchParams(search)))).toThrow(
      (await alert.textContent()) ?? 'nothing',
    );
    expect(await planner.getByRole('table').count()).toBe(0);
    expect(await planner.getByRole('progressbar').count()).toBe(0);
  });

  it('says which sender of a link does not exist', async () => {
    const planner = await visit('?senders=shopfy:1&burst=10/1s&service=80ms#plan-for-a-burst');
    await planner.getByRole('alert').filter({ hasText: 'Did you mean "shopify"?' }).waitFor();
  });

  it('works without a mouse', async () => {
    const planner = await visit();
    await finished(planner);
    const { page } = reader as Reader;
    await planner.getByLabel('Sender 1', { exact: true }).focus();
    await page.keyboard.type('linear');
    for (const text of ['1', '', 'github']) {
      await page.keyboard.press('Tab');
      if (text !== '') await page.keyboard.type(text);
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/\?senders=linear:1,github:30&/);
    await planner.getByRole('button', { name: 'Add a sender' }).press('Enter');
    await page.waitForURL(/\?senders=linear:1,github:30,[\w-]+:10&/);
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Sender 3');
    await finished(planner);
  });

  it('is text and a command without JavaScript', async () => {
    const context = await site.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(site.address);
    expect(await page.getByText('npx @webhook-backpressure/planner').isVisible()).toBe(true);
    expect(await page.locator('.planner').isVisible()).toBe(false);
    await context.close();
  });

  it('adds less than 250 kB', () => {
    const assets = join(root, 'site/dist/assets');
    const names = readdirSync(assets, { recursive: true, encoding: 'utf8' });
    const own = names
      .filter((name) => /plan-worker|BurstPlanner/.test(name))
      .map((name) => join(assets, name));
    const files = [...own, join(root, 'site/.vitepress/theme/planner/planner.css')];
    const sizes = files.map((file) => gzipSync(readFileSync(file), { level: 9 }).length);
    expect(files.length).toBe(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT_BYTES);
  });
});

describe.each<View>([
  { width: 1440, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
  { width: 320, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
])('on a screen of $width px, $colorScheme, the planner', (view) => {
  it('is accessible and fits, with a plan and with an error', async () => {
    const planner = await visit('?senders=shopify:70,github:30&burst=500/1s&service=80ms', view);
    await finished(planner);
    await planner.getByText('More', { exact: true }).click();
    await planner.getByText('configurations that were simulated').click();
    expect(await reader?.violations()).toEqual([]);
    expect(await reader?.overflow()).toBe(0);
    await choose(planner, 'Only this mode', 'both');
    await planner.getByLabel('Only this mode').press('Enter');
    await planner.getByRole('alert').filter({ hasText: '--mode must be' }).waitFor();
    expect(await reader?.violations()).toEqual([]);
    expect(await reader?.overflow()).toBe(0);
  });
});
