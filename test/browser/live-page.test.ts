import { expect, it } from 'vitest';
import { sendBurst } from './burst.ts';
import { inBrowser, POLL } from './in-browser.ts';

const HOSTILE = '<script>document.title = "taken over"</script>';
const EMOJI = '🪝'.repeat(128);
const LIMIT_MS = 120_000;

const ROUTES = [
  ['GET', '/'],
  ['GET', '/state'],
  ['GET', '/events'],
  ['GET', '/dead?inbox=orders'],
  ['GET', '/dead/item?inbox=orders&key=k&id=1'],
  ['GET', '/nowhere'],
  ['POST', '/update'],
  ['POST', '/redrive'],
  ['POST', '/purge'],
];

const at = inBrowser();

it(
  'shows a burst: the curves move, and the state turns to shedding and back',
  async () => {
    const { live, receiver } = at;
    await expect.poll(() => live.state.textContent(), POLL).toBe('Accepting');
    await expect.poll(() => live.values('Queue depth'), POLL).toContain('0');
    const calm = [await live.pixels('Queue depth'), await live.pixels('Deliveries per second')];

    const answered = sendBurst(receiver, '/webhooks', Array<string>(60).fill('shop'));
    await expect.poll(() => live.state.textContent(), POLL).toBe('Shedding');
    const { depth } = receiver.intake.snapshot();
    await expect.poll(() => live.values('Queue depth'), POLL).toContain(String(depth));
    await expect.poll(() => live.pixels('Queue depth'), POLL).not.toBe(calm[0]);
    await expect.poll(() => live.pixels('Deliveries per second'), POLL).not.toBe(calm[1]);

    receiver.gate.open();
    const refused = (await answered).filter((status) => status !== 204);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every((status) => status === 429 || status === 503)).toBe(true);
    await expect.poll(() => live.state.textContent(), POLL).toBe('Accepting');
    await expect.poll(async () => (await live.values('Queue depth'))[0], POLL).toBe('0');
    const summary = await live.part('Queue depth').getByRole('img').getAttribute('aria-label');
    expect(summary).toContain(`Queued: now 0, lowest 0, highest ${String(depth)}`);
  },
  LIMIT_MS,
);

it(
  'shows keys as text, also hostile and long ones',
  async () => {
    const { live, receiver } = at;
    receiver.gate.open();
    await sendBurst(receiver, '/webhooks', [HOSTILE, EMOJI, 'shop']);
    const keys = live.part('Busiest keys').locator('tbody tr');
    await expect.poll(() => keys.count(), POLL).toBe(3);
    const names = await keys.locator('.name').allTextContents();
    expect(names.sort()).toEqual([HOSTILE, 'shop', EMOJI].sort());
    expect(await live.page.title()).not.toContain('taken over');
    expect(await live.page.evaluate('document.documentElement.scrollWidth')).toBe(1440);
  },
  LIMIT_MS,
);

it(
  'changes the intake by its levers',
  async () => {
    const { live, receiver } = at;
    const apply = live.levers.getByRole('button', { name: 'Apply' });
    const label = /^Capacity/;
    const capacity = live.levers.getByLabel(label);

    // It lists the change.
    await live.levers
      .getByRole('group', { name: 'Concurrency' })
      .getByLabel(/^Workers/)
      .fill('7');
    await apply.click();
    await expect.poll(() => receiver.intake.snapshot().concurrency, POLL).toBe(7);
    await expect.poll(() => live.part('Changes').textContent(), POLL).toContain('concurrency → 7');
    await expect.poll(() => live.levers.textContent(), POLL).toContain('Applied: concurrency.');
    expect(await live.levers.textContent()).not.toContain('Not applied yet');

    // It shows the error of the library at the field.
    at.expectErrors(/status of 400 .*\/update\)$/);
    await capacity.fill('0');
    await apply.click();
    const problem = live.levers
      .locator('.field')
      .filter({ has: live.page.getByLabel(label) })
      .getByRole('alert');
    await expect.poll(() => problem.textContent(), POLL).toContain('capacity must be');
    const link = problem.getByRole('link', { name: 'ERR_WBP_CAPACITY' });
    expect(await link.getAttribute('href')).toContain('errors.md#err_wbp_capacity');
    expect(await capacity.getAttribute('aria-invalid')).toBe('true');
    expect(receiver.intake.snapshot().capacity).toBe(50);

    // It keeps what is typed in other fields.
    await capacity.fill('60');
    await live.page.getByLabel('Refuse all deliveries of a key').fill('noisy');
    await live.page.getByRole('button', { name: 'Refuse', exact: true }).click();
    await live.page.getByRole('button', { name: 'Admit noisy again' }).waitFor();
    expect(receiver.intake.snapshot().options.shed).toEqual(['noisy']);
    expect(await capacity.inputValue()).toBe('60');
    expect(await live.levers.textContent()).toContain('Not applied yet: capacity');

    // It says that a limit cannot be removed.
    const wait = live.levers.getByLabel(/^Longest wait/);
    await wait.fill('');
    await apply.click();
    await live.levers.getByText('A limit cannot be removed while the process runs.').waitFor();
    await wait.fill('5000');
    await apply.click();
    await live.levers.getByText('Applied: capacity, maxWaitMs.').waitFor();
    expect(receiver.intake.snapshot().options).toMatchObject({ capacity: 60, maxWaitMs: 5000 });
  },
  LIMIT_MS,
);

it(
  'shows a dead letter with its reason, and redrives it',
  async () => {
    const { live, receiver } = at;
    await sendBurst(receiver, '/inbox', [HOSTILE]);
    await live.choose('orders');
    const letters = live.part(/^Dead letters \(/);
    await expect.poll(() => letters.locator('tbody tr').count(), POLL).toBe(1);
    expect(await letters.locator('tbody .name').first().textContent()).toBe(HOSTILE);
    expect(await letters.locator('tbody .reason').textContent()).toContain('The order does not exist.');
    await letters.getByRole('button', { name: 'Show', exact: true }).click();
    const dialog = live.page.getByRole('dialog', { name: 'Dead letter' });
    expect(await dialog.locator('pre').textContent()).toBe('{"order":1}');
    await live.page.keyboard.press('Escape');

    await letters.getByLabel('Error contains').fill('unknown');
    await letters.getByRole('button', { name: 'Filter' }).click();
    await expect.poll(() => letters.textContent(), POLL).toContain('No dead letters match.');
    await letters.getByLabel('Error contains').fill('DOES NOT EXIST');
    await letters.getByLabel('Body contains').fill('"order"');
    await live.page.keyboard.press('Enter');
    await expect.poll(() => letters.locator('tbody tr').count(), POLL).toBe(1);
    await letters.getByRole('button', { name: 'Redrive matching' }).click();
    const question = live.page.getByRole('dialog', { name: 'Redrive the matching dead letters?' });
    expect(await question.textContent()).toContain('This puts 1 dead letter back');
    await question.getByRole('button', { name: 'Cancel' }).click();
    for (const label of ['Error contains', 'Body contains']) await letters.getByLabel(label).fill('');
    await letters.getByRole('button', { name: 'Filter' }).click();
    await letters.getByRole('button', { name: 'Redrive all' }).waitFor();

    receiver.isInboxBroken = false;
    await letters.getByRole('button', { name: 'Redrive', exact: true }).click();
    await expect.poll(() => receiver.inbox.snapshot().totals.completed, POLL).toBe(1);
    await expect.poll(() => letters.textContent(), POLL).toContain('The dead-letter queue is empty.');
  },
  LIMIT_MS,
);

it(
  'says so when the connection is lost, and recovers after a restart of the process',
  async () => {
    const { live } = at;
    at.expectErrors(/net::ERR_/);
    await at.restart(() => live.connection.getByText('Connection lost, retrying').waitFor());
    await live.page.getByText('The process restarted at').waitFor();
    // It covers nothing at the top, and the page still scrolls below the bar.
    expect(await live.page.evaluate("getComputedStyle(document.querySelector('main')).position")).toBe(
      'static',
    );
    await live.connection.getByText('Live', { exact: true }).waitFor();
    at.receiver.gate.open();
    await sendBurst(at.receiver, '/webhooks', ['after-the-restart']);
    await live.part('Busiest keys').getByText('after-the-restart').waitFor();
  },
  LIMIT_MS,
);

it(
  'refuses an unauthorized client on every route, the event stream included, and shows nothing of the receiver',
  async () => {
    // Without the cookie of an operator.
    const context = await at.browser.newContext();
    const page = await context.newPage();
    const answer = await page.goto(at.receiver.page);
    expect(answer?.status()).toBe(401);
    expect(await page.content()).not.toMatch(/webhooks|orders|script/);

    for (const [method = '', route = ''] of ROUTES) {
      const { status, body } = await page.evaluate(
        async ([url = '', verb = '']) => {
          const headers = { 'content-type': 'application/json', 'x-webhook-backpressure': '1' };
          const response = await fetch(url, {
            method: verb,
            ...(verb === 'POST' ? { headers, body: '{}' } : {}),
          });
          return { status: response.status, body: await response.text() };
        },
        [`${at.receiver.page}${route}`, method],
      );
      expect([method, route, status]).toEqual([method, route, 401]);
      expect(body).not.toMatch(/webhooks|orders/);
    }

    const stream = await page.evaluate(`new Promise((resolve) => {
    const stream = new EventSource('${at.receiver.page}/events');
    stream.onopen = () => resolve('open');
    stream.onerror = () => resolve('refused');
  })`);
    expect(stream).toBe('refused');
    await context.close();
  },
  LIMIT_MS,
);
