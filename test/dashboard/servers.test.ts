import { createServer, type Server } from 'node:http';
import { serve } from '@hono/node-server';
import express from 'express';
import express4 from 'express4';
import { Hono } from 'hono';
import { mount as honoMount } from 'hono/mount';
import { Hono as Hono40 } from 'hono40';
import Koa from 'koa';
import Koa2 from 'koa2';
import { describe, expect, it } from 'vitest';
import type { Dashboard } from '@webhook-backpressure/dashboard';
import { EventReader, get, inboxWithDead, watched } from './fixtures.ts';
import { listening } from './listening.ts';

const MOUNT = '/ops/backpressure';
function koaServer(app: Koa, { node }: Dashboard): Server {
  app.use((ctx, next) => {
    if (!ctx.path.startsWith(MOUNT)) return next();
    ctx.respond = false;
    node(ctx.req, ctx.res);
    return undefined;
  });
  const listener = app.callback();
  return createServer((req, res) => {
    void listener(req, res);
  });
}

function honoServer(app: { fetch: (request: Request) => Response | Promise<Response> }): Server {
  return serve({ fetch: app.fetch, port: 0 }) as Server;
}

const FRAMEWORKS: Record<string, (page: Dashboard) => Server> = {
  'express 5': ({ node }) => createServer(express().use(MOUNT, node)),
  'express 5 after express.json()': ({ node }) =>
    createServer(express().use(express.json()).use(MOUNT, node)),
  'express 4': ({ node }) => createServer(express4().use(MOUNT, node)),
  'express 4 in a router, after express.text()': ({ node }) => {
    const router = express4.Router().use('/backpressure', node);
    return createServer(
      express4()
        .use(express4.text({ type: '*/*' }))
        .use('/ops', router),
    );
  },
  'express 4 after express.raw()': ({ node }) =>
    createServer(
      express4()
        .use(express4.raw({ type: '*/*' }))
        .use(MOUNT, node),
    ),
  'koa 3': (page) => koaServer(new Koa(), page),
  'koa 2': (page) => koaServer(new Koa2(), page),
  'hono 4': ({ fetch }) => honoServer(new Hono().all(`${MOUNT}/*`, (c) => fetch(c.req.raw))),
  'hono 4, by mount()': ({ fetch }) => honoServer(new Hono().all(`${MOUNT}/*`, honoMount(fetch))),
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- Until Hono 5, apps have it.
  'hono 4.0, by app.mount()': ({ fetch }) => honoServer(new Hono40().mount(MOUNT, fetch)),
  'node:http': ({ node }) => createServer(node),
};

describe.each(Object.entries(FRAMEWORKS))('on %s', (name, mount) => {
  const isParsed = name.includes('after');

  it('serves the page with and without a slash at its end', async () => {
    const base = await listening(mount(watched().page));
    for (const path of [MOUNT, `${MOUNT}/`]) {
      const answer = await fetch(base + path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await answer.text()).toMatch(/^<!doctype html>/i);
    }
  });

  it('serves the state, and 404 elsewhere', async () => {
    const { page, intake } = watched();
    const base = await listening(mount(page));
    const answer = await fetch(`${base}${MOUNT}/state`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toMatchObject({
      intakes: { intake: { snapshot: { capacity: intake.snapshot().capacity } } },
    });
    expect((await fetch(`${base}${MOUNT}/package.json`)).status).toBe(404);
    const head = await fetch(`${base}${MOUNT}/state`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });

  it('sends events until the page closes', async () => {
    const parts = watched();
    const base = await listening(mount(parts.page));
    const answer = await fetch(`${base}${MOUNT}/events`);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = new EventReader(answer);
    expect(await reader.next()).toMatchObject({ event: 'state' });
    parts.intake.admit();
    parts.clock.advance(1000);
    expect(await reader.next()).toMatchObject({ data: { intakes: { intake: { rates: { arrivals: 1 } } } } });
    parts.page.close();
    expect(await reader.next()).toBeNull();
  });

  it('forgets a page that hangs up', async () => {
    const parts = watched();
    const base = await listening(mount(parts.page));
    // As many as may be open: the next one is answered only when one of them is forgotten.
    const kept = [];
    for (let count = 0; count < 198; count += 1) kept.push(await parts.page.fetch(get('events')));
    const all = await Promise.all(
      ['a', 'b'].map(async () => {
        const gone = new AbortController();
        const answer = await fetch(`${base}${MOUNT}/events`, { signal: gone.signal });
        expect(answer.status).toBe(200);
        // A response that is collected as garbage is cancelled.
        kept.push(answer);
        return gone;
      }),
    );
    expect((await fetch(`${base}${MOUNT}/events`)).status).toBe(503);
    for (const gone of all) gone.abort();
    for (;;) {
      const gone = new AbortController();
      const { status } = await fetch(`${base}${MOUNT}/events`, { signal: gone.signal });
      gone.abort();
      if (status === 200) break;
    }
    expect(kept).toHaveLength(200);
  });

  it('changes options, and refuses too large bodies', async () => {
    const { page, intake } = watched({ allowUpdate: true });
    const base = await listening(mount(page));
    const send = async (body: string, headers: Record<string, string> = {}): Promise<Response> =>
      await fetch(`${base}${MOUNT}/update`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-webhook-backpressure': '1', ...headers },
        body,
      });
    const good = JSON.stringify({ intake: 'intake', options: { capacity: 50 } });
    expect((await send(good)).status).toBe(200);
    expect(intake.snapshot().capacity).toBe(50);
    const bad = await send(JSON.stringify({ intake: 'intake', options: { capacity: '€' } }));
    expect(bad.status).toBe(400);
    expect(await bad.json()).toMatchObject({ code: 'ERR_WBP_CAPACITY', option: 'capacity' });
    expect((await send(good, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await send(good, { origin: base })).status).toBe(200);
    expect((await send(`${good}${' '.repeat(65_536)}`)).status).toBe(413);
    // A parser in front answers this itself.
    if (!isParsed) expect((await send('{')).status).toBe(400);
  });

  it('lists and purges dead letters', async () => {
    const inbox = await inboxWithDead('a');
    const base = await listening(mount(watched({ inboxes: { 'a/b?c': inbox }, allowUpdate: true }).page));
    const query = new URLSearchParams({ inbox: 'a/b?c', key: 'default', id: 'a' }).toString();
    const list = await fetch(`${base}${MOUNT}/dead?${query}`);
    expect(await list.json()).toMatchObject({ items: [{ id: 'a' }] });
    const item = await fetch(`${base}${MOUNT}/dead/item?${query}`);
    expect(await item.json()).toMatchObject({ body: '<script>alert(1)</script>' });
    const purged = await fetch(`${base}${MOUNT}/purge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-backpressure': '1' },
      body: JSON.stringify({ inbox: 'a/b?c', key: 'default', id: 'a' }),
    });
    expect(await purged.json()).toEqual({ count: 1, isComplete: true });
  });

  it('refuses an unauthorized client with the answer that authorize returns', async () => {
    const headers = [
      ['WWW-Authenticate', 'Basic realm="ops"'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ] as [string, string][];
    const seen: string[] = [];
    const authorize = (request: Request): true | Response => {
      seen.push(new URL(request.url).pathname);
      if (request.headers.get('authorization') === 'Basic eA==') return true;
      return new Response('Who are you?', { status: 401, headers });
    };
    const base = await listening(mount(watched({ authorize }).page));
    const answer = await fetch(`${base}${MOUNT}/state`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="ops"');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await answer.text()).toBe('Who are you?');
    expect((await fetch(`${base}${MOUNT}/state`, { headers: { authorization: 'Basic eA==' } })).status).toBe(
      200,
    );
    // A mount of Hono removes its path.
    if (!name.includes('mount')) expect(seen).toEqual([`${MOUNT}/state`, `${MOUNT}/state`]);
  });
});
