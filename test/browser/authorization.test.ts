import { expect, it } from 'vitest';
import { inBrowser } from './in-browser.ts';

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

it('refuses an unauthorized client on every route, the event stream included, and shows nothing of the receiver', async () => {
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
}, 120_000);
