import { describe, expect, it, vi } from 'vitest';
import { EventReader, get, post, problemOf, watched, type Watched } from './fixtures.ts';

const GETS = ['', 'state', 'events', 'dead?inbox=inbox', 'dead/item?inbox=inbox&id=a', 'nothing.here'];
const POSTS = ['update', 'redrive', 'purge', 'state'];
const REQUESTS = [...GETS.map((path) => get(path)), ...POSTS.map((path) => post(path, {}))];
const preflight = new Request('http://ops.example/update', { method: 'OPTIONS' });

describe.each(
  [...REQUESTS, preflight].map((request) => [`${request.method} ${request.url}`, request] as const),
)('%s', (_, request) => {
  it('is 401 for an unauthorized client, and says nothing more', async () => {
    const { page } = watched({ authorize: () => false, allowUpdate: true });
    const answer = await page.fetch(request.clone());
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({ code: 'UNAUTHORIZED', message: 'Unauthorized.' });
  });

  it('gets the response that authorize returns', async () => {
    const authorize = (): Response => Response.redirect('https://login.example/', 303);
    const { page } = watched({ authorize, allowUpdate: true });
    const answer = await page.fetch(request.clone());
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('https://login.example/');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('is 500 without details when authorize fails', async () => {
    const { page, errors } = watched({
      authorize: () => Promise.reject(new Error('password: hunter2')),
      allowUpdate: true,
    });
    const answer = await page.fetch(request.clone());
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('hunter2');
    expect(errors).toEqual([new Error('password: hunter2')]);
  });
});

describe('authorize', () => {
  it.each([undefined, null, 1, 'yes', {}, []])('admits no client by returning %j', async (result) => {
    const { page } = watched({ authorize: () => result as boolean });
    expect((await page.fetch(get('state'))).status).toBe(401);
  });

  it('admits by true, also as a promise', async () => {
    for (const result of [true, Promise.resolve(true)]) {
      const { page } = watched({ authorize: () => result });
      expect((await page.fetch(get('state'))).status).toBe(200);
    }
  });

  it('gets the request with its headers', async () => {
    const seen: string[] = [];
    const authorize = ({ url, method, headers }: Request): boolean => {
      seen.push(`${method} ${url} ${headers.get('authorization') ?? ''}`);
      return true;
    };
    await watched({ authorize }).page.fetch(get('state', { authorization: 'Basic eA==' }));
    expect(seen).toEqual(['GET http://ops.example/backpressure/state Basic eA==']);
  });

  it('is asked again each minute for an open page, which is closed when it refuses', async () => {
    let isAllowed = true;
    const authorize = vi.fn(() => isAllowed);
    const { page, clock } = watched({ authorize });
    const reader = new EventReader(await page.fetch(get('events')));
    expect(await reader.next()).not.toBeNull();
    const aMinute = async (): Promise<void> => {
      for (let second = 0; second < 59; second += 1) {
        clock.advance(1000);
        expect(await reader.next()).not.toBeNull();
      }
      clock.advance(1000);
    };
    await aMinute();
    expect(authorize).toHaveBeenCalledTimes(2);
    expect(await reader.next()).not.toBeNull();
    isAllowed = false;
    await aMinute();
    expect(await reader.next()).not.toBeNull();
    expect(await reader.next()).toBeNull();
    expect(authorize).toHaveBeenCalledTimes(3);
  });
});

/** Lets a minute pass, with a page that reads on. */
async function aMinute({ clock }: Watched, reader: EventReader): Promise<void> {
  for (let second = 0; second < 60; second += 1) {
    expect(await reader.next()).not.toBeNull();
    clock.advance(1000);
  }
}

describe('an open page', () => {
  it.each([
    ['whose body was sent before', new Response('Sign in.', { status: 401 })],
    ['that cannot be sent', Response.error()],
  ])('is closed when authorize returns an answer %s', async (_, refusal) => {
    let isAllowed = true;
    const parts = watched({ authorize: () => isAllowed || refusal });
    const reader = new EventReader(await parts.page.fetch(get('events')));
    isAllowed = false;
    await (await parts.page.fetch(get('state'))).text();
    await aMinute(parts, reader);
    expect(await reader.next()).not.toBeNull();
    expect(await reader.next()).toBeNull();
  });

  it('is closed when authorize does not answer for a minute', async () => {
    let isHanging = false;
    const authorize = (): true | Promise<true> => (isHanging ? new Promise<true>(() => undefined) : true);
    const parts = watched({ authorize });
    const reader = new EventReader(await parts.page.fetch(get('events')));
    isHanging = true;
    await aMinute(parts, reader);
    await aMinute(parts, reader);
    expect(await reader.next()).not.toBeNull();
    expect(await reader.next()).toBeNull();
  });
});

it('sends the response that authorize returns again and again', async () => {
  const refusal = new Response('Sign in.', { status: 401 });
  const { page, errors } = watched({ authorize: () => refusal });
  for (let count = 0; count < 3; count += 1) {
    const answer = await page.fetch(get('state'));
    expect([answer.status, await answer.text()]).toEqual([401, 'Sign in.']);
  }
  expect(errors).toEqual([]);
});

describe('a dashboard without allowUpdate', () => {
  it.each(['update', 'redrive', 'purge'])('answers %s with 403', async (path) => {
    const { page, intake } = watched();
    const answer = await page.fetch(
      post(path, { intake: 'intake', inbox: 'inbox', options: { capacity: 5 } }),
    );
    expect(answer.status).toBe(403);
    expect((await problemOf(answer)).code).toBe('READ_ONLY');
    expect(intake.snapshot().capacity).toBe(10);
  });
});
