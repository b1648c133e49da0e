import { describe, expect, it } from 'vitest';
import { get, post, problemOf, watched } from './fixtures.ts';

const UPDATE = { intake: 'intake', options: { capacity: 5 } };

async function statusWith(headers: Record<string, string>): Promise<number> {
  const { page, intake } = watched({ allowUpdate: true });
  const answer = await page.fetch(post('update', UPDATE, headers));
  expect(intake.snapshot().capacity).toBe(answer.status === 200 ? 5 : 10);
  if (answer.status === 403) expect((await problemOf(answer)).code).toBe('OTHER_ORIGIN');
  return answer.status;
}

describe('a change', () => {
  it.each<Record<string, string>>([
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://ops.example' },
    { origin: 'http://ops.example' },
    { origin: 'https://ops.example', host: 'OPS.example:443' },
    { origin: 'http://ops.example:8080', host: 'ops.example:8080' },
    { origin: 'https://public.example', host: 'internal:3000', 'x-forwarded-host': 'public.example' },
  ])('is accepted from the page itself: %j', async (headers) => {
    expect(await statusWith(headers)).toBe(200);
  });

  it.each<Record<string, string>>([
    { 'x-webhook-backpressure': '' },
    { 'x-webhook-backpressure': 'yes' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: 'http://ops.example' },
    { origin: 'https://evil.example' },
    { origin: 'https://ops.example.evil.example' },
    { origin: 'http://ops.example:8080' },
    { origin: 'null' },
    { origin: '' },
  ])('is refused from elsewhere: %j', async (headers) => {
    expect(await statusWith(headers)).toBe(403);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])(
    'is refused as %j, which a form of another origin could send',
    async (type) => {
      expect(await statusWith({ 'content-type': type })).toBe(415);
    },
  );
});

describe.each(['state', 'events', 'dead?inbox=inbox', 'dead/item?inbox=inbox&id=a'])('GET %s', (path) => {
  it.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])('is refused from elsewhere, because middleware may let others read it: %j', async (headers) => {
    const answer = await watched().page.fetch(get(path, headers));
    expect(answer.status).toBe(403);
    expect((await problemOf(answer)).code).toBe('OTHER_ORIGIN');
  });

  it.each<Record<string, string>>([{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }])(
    'is answered to the page and to an operator: %j',
    async (headers) => {
      expect((await watched().page.fetch(get(path, headers))).status).not.toBe(403);
    },
  );
});

it('shows the page to an operator who follows a link', async () => {
  const answer = await watched().page.fetch(get('', { 'sec-fetch-site': 'cross-site' }));
  expect(answer.status).toBe(200);
});
