import type { Inbox } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { Dashboard } from '@webhook-backpressure/dashboard';
import { get, inboxThatFails, inboxWithDead, post, problemOf, watched, withDeadLetters } from './fixtures.ts';

interface Item {
  readonly key: string;
  readonly id: string;
  readonly error: string;
  readonly body?: string;
}
interface List {
  readonly items: readonly Item[];
  readonly next: string | null;
}

function pageOf(inbox: Inbox): Dashboard {
  return watched({ inboxes: { inbox }, allowUpdate: true }).page;
}

async function list(page: Dashboard, query = ''): Promise<List> {
  const answer = await page.fetch(get(`dead?inbox=inbox${query}`));
  expect(answer.status).toBe(200);
  return (await answer.json()) as List;
}

describe('GET dead', () => {
  it('lists dead letters with their reason, without headers and bodies', async () => {
    const { items, next } = await list(pageOf(await inboxWithDead('a')));
    expect(next).toBeNull();
    expect(items).toEqual([
      {
        key: 'default',
        id: 'a',
        sender: null,
        attempts: 1,
        reason: 'dead',
        method: 'POST',
        url: '',
        error: '<b>boom</b>',
        bodyBytes: 25,
        isEncrypted: false,
        receivedAt: expect.any(Number) as number,
        deadAt: expect.any(Number) as number,
      },
    ]);
  });

  it('lists 50 at a time', async () => {
    const ids = Array.from({ length: 120 }, (_, place) => `evt_${String(place)}`);
    const page = pageOf(await inboxWithDead(...ids));
    const found: string[] = [];
    let cursor: string | null = '0';
    while (cursor !== null) {
      const { items, next }: List = await list(page, `&cursor=${cursor}`);
      expect(items.length).toBeLessThanOrEqual(50);
      found.push(...items.map(({ id }) => id));
      cursor = next;
    }
    expect(found.sort()).toEqual(ids.sort());
  });

  it.each(['-1', '1.5', 'x', '1e99'])('answers the cursor %j with 400', async (cursor) => {
    const { page } = watched();
    expect((await page.fetch(get(`dead?inbox=inbox&cursor=${cursor}`))).status).toBe(400);
  });

  it.each(['dead', 'dead?inbox=other', 'dead?inbox=__proto__', 'dead/item?inbox=other&id=a'])(
    'answers %s with 404',
    async (path) => {
      const { page } = watched();
      expect((await page.fetch(get(path))).status).toBe(404);
    },
  );
});

describe('GET dead/item', () => {
  it('shows headers and body as text', async () => {
    const page = pageOf(await inboxWithDead('a'));
    const answer = await page.fetch(get('dead/item?inbox=inbox&key=default&id=a'));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toMatchObject({
      headers: { 'content-type': 'text/html', 'webhook-id': 'a' },
      body: '<script>alert(1)</script>',
      bodyBytes: 25,
      isCut: false,
    });
  });

  it('shows the contents of an inbox that encrypts', async () => {
    const encrypt = { keys: { first: new Uint8Array(32) }, current: 'first' };
    const page = pageOf(await inboxThatFails(['a'], { encrypt }));
    const { items } = await list(page);
    expect(items).toEqual([expect.objectContaining({ id: 'a', isEncrypted: true })]);
    const answer = await page.fetch(get('dead/item?inbox=inbox&id=a'));
    expect(await answer.json()).toMatchObject({ body: '<script>alert(1)</script>' });
  });

  it('cuts a body after 64 KiB, and shows bytes that are no text', async () => {
    const letter = {
      key: 'k',
      id: 'a',
      sender: undefined,
      method: 'POST',
      url: '/',
      attempts: 1,
      reason: 'dead',
      error: '',
      headers: {},
      receivedAt: new Date(),
      deadAt: new Date(),
      rawBody: new Uint8Array(100_000).fill(255),
    };
    const page = pageOf(withDeadLetters({ get: () => Promise.resolve(letter) }));
    const shown = (await (await page.fetch(get('dead/item?inbox=inbox&id=a'))).json()) as Item & object;
    expect(shown).toMatchObject({ bodyBytes: 100_000, isCut: true });
    expect(shown.body).toBe('\uFFFD'.repeat(65_536));
  });

  it('answers an unknown id with 404, and none with 400', async () => {
    const page = pageOf(await inboxWithDead('a'));
    expect((await page.fetch(get('dead/item?inbox=inbox&id=b'))).status).toBe(404);
    expect((await page.fetch(get('dead/item?inbox=inbox&id=a&key=other'))).status).toBe(404);
    expect((await page.fetch(get('dead/item?inbox=inbox'))).status).toBe(400);
  });
});

describe('redrive and purge', () => {
  it('purge one dead letter, or all', async () => {
    const page = pageOf(await inboxWithDead('a', 'b', 'c'));
    const one = await page.fetch(post('purge', { inbox: 'inbox', key: 'default', id: 'b' }));
    expect(await one.json()).toEqual({ count: 1, isComplete: true });
    expect((await list(page)).items.map(({ id }) => id)).toEqual(['a', 'c']);
    const all = await page.fetch(post('purge', { inbox: 'inbox' }));
    expect(await all.json()).toEqual({ count: 2, isComplete: true });
    expect((await list(page)).items).toEqual([]);
  });

  it('redrive one dead letter', async () => {
    const inbox = await inboxWithDead('a', 'b');
    const page = pageOf(inbox);
    const again = new Promise((resolve) => {
      inbox.subscribe((event) => {
        if (event.type === 'started') resolve(event.id);
      });
    });
    const answer = await page.fetch(post('redrive', { inbox: 'inbox', key: 'default', id: 'a' }));
    expect(await answer.json()).toEqual({ count: 1, isComplete: true });
    expect(await again).toBe('a');
  });

  it('stop a redrive of all after 20 s, when the inbox has no room', async () => {
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const inbox = withDeadLetters({
      redrive: (_id: string, { signal }: { signal: AbortSignal }) =>
        new Promise<number>((resolve) => {
          begun();
          signal.addEventListener('abort', () => {
            resolve(3);
          });
        }),
    });
    const { page, clock } = watched({ allowUpdate: true, inboxes: { inbox } });
    const answer = page.fetch(post('redrive', { inbox: 'inbox' }));
    await hasBegun;
    clock.advance(20_000);
    expect(await (await answer).json()).toEqual({ count: 3, isComplete: false });
  });

  it.each(['redrive', 'purge'])('do not %s all when a dead letter has the id "all"', async (path) => {
    const inbox = await inboxWithDead('all', 'b');
    const answer = await pageOf(inbox).fetch(post(path, { inbox: 'inbox', key: 'default', id: 'all' }));
    expect(answer.status).toBe(400);
    expect(await inbox.deadLetters.list()).toHaveLength(2);
  });

  it.each<[unknown, number]>([
    [{ inbox: 'other' }, 404],
    [{}, 404],
    [{ inbox: '__proto__' }, 404],
    [{ inbox: 'inbox', id: 5 }, 400],
    [{ inbox: 'inbox', id: null }, 400],
    [{ inbox: 'inbox', key: ['a'] }, 400],
  ])('answer %j with %d', async (body, status) => {
    const inbox = await inboxWithDead('a');
    const page = pageOf(inbox);
    for (const path of ['redrive', 'purge']) expect((await page.fetch(post(path, body))).status).toBe(status);
    expect(await inbox.deadLetters.list()).toHaveLength(1);
  });

  it('answer 500 without details when the store fails', async () => {
    const fail = (): Promise<never> => Promise.reject(new Error('postgres://admin:hunter2@db'));
    const inbox = withDeadLetters({ list: fail, get: fail, redrive: fail, purge: fail });
    const page = pageOf(inbox);
    const requests = [
      ...[get('dead?inbox=inbox'), get('dead/item?inbox=inbox&id=a')],
      ...[post('redrive', { inbox: 'inbox' }), post('purge', { inbox: 'inbox' })],
    ];
    for (const request of requests) {
      const answer = await page.fetch(request);
      expect(answer.status).toBe(500);
      const { code, message } = await problemOf(answer);
      expect({ code, message }).toEqual({ code: 'FAILED', message: 'The store failed.' });
    }
  });
});
