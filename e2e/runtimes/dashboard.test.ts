import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '@webhook-backpressure/dashboard';
import { EventReader } from '../../test/dashboard/fixtures.ts';
import { Served } from './served.ts';
import { runtimes } from './tools.js';

// Timers of workerd end with the request that set them.
describe.each(runtimes.filter(({ name }) => name !== 'workerd'))('the dashboard on $name', (runtime) => {
  let served: Served;

  beforeAll(async () => {
    served = await Served.start(runtime);
  });

  afterAll(() => served.stop());

  async function ask(path: string, body?: string): Promise<Response> {
    const headers = {
      'x-app': 'dashboard',
      'content-type': 'application/json',
      'x-webhook-backpressure': '1',
    };
    const method = body === undefined ? 'GET' : 'POST';
    const address = `http://127.0.0.1:${String(served.port)}/dashboard${path}`;
    return await fetch(address, { method, headers, body: body ?? null });
  }

  it('serves the page and the state', async () => {
    const page = await ask('');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toMatch(/^<!doctype html>/i);
    const state = (await (await ask('/state')).json()) as PageState;
    expect(state.intakes['intake']?.snapshot.capacity).toBe(1);
  });

  it('sends a state each second, and a change', async () => {
    const reader = new EventReader(await ask('/events'));
    const first = (await reader.next())?.data as PageState;
    const second = (await reader.next())?.data as PageState;
    expect(second.at).toBeGreaterThan(first.at);
    const body = JSON.stringify({ intake: 'intake', options: { capacity: 5 } });
    expect((await ask('/update', body)).status).toBe(200);
    let event = await reader.next();
    while (event?.event === 'state') event = await reader.next();
    expect(event).toMatchObject({ event: 'change', data: { options: { capacity: 5 } } });
    await reader.cancel();
  });

  it('forgets pages that hang up', async () => {
    const openAll = async (count: number): Promise<Response[]> =>
      await Promise.all(Array.from({ length: count }, () => ask('/events')));
    const all = await openAll(200);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await ask('/events')).status).toBe(503);
    for (const one of all) await one.body?.cancel();
    for (;;) {
      const { status, body } = await ask('/events');
      await body?.cancel();
      if (status === 200) break;
    }
  });

  it('refuses bodies above 64 KiB', async () => {
    const answer = await ask('/update', ' '.repeat(65_537));
    expect(answer.status).toBe(413);
  });
});
