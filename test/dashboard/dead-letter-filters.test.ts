import type { Inbox } from '@webhook-backpressure/inbox';
import type { Dashboard } from '@webhook-backpressure/dashboard';
import { describe, expect, it } from 'vitest';
import { get, inboxWithDead, post, problemOf, watched, withDeadLetters } from './fixtures.ts';

function pageOf(inbox: Inbox): Dashboard {
  return watched({ inboxes: { inbox }, allowUpdate: true }).page;
}

interface List {
  readonly items: readonly { readonly id: string }[];
  readonly next: string | null;
}

describe('a filter', () => {
  it('lists what matches, in pages', async () => {
    const page = pageOf(await inboxWithDead(...Array.from({ length: 60 }, (_, at) => `evt_${String(at)}`)));
    const list = async (query: string): Promise<List> =>
      (await (await page.fetch(get(`dead?inbox=inbox&${query}`))).json()) as List;
    expect((await list('sender=stripe')).items).toEqual([]);
    const { items, next } = await list('error=BOOM&text=script');
    expect(items).toHaveLength(50);
    expect((await list(`error=BOOM&text=script&cursor=${String(next)}`)).items).toHaveLength(10);
    expect((await list(`endedFrom=${String(Date.now() + 60_000)}`)).items).toEqual([]);
    expect((await list('receivedFrom=0')).items).toHaveLength(50);
  });

  it('is tried out, and then redrives or purges what matches', async () => {
    const inbox = await inboxWithDead('a', 'b', 'c');
    const page = pageOf(inbox);
    for (const action of ['redrive', 'purge'] as const) {
      const tried = await page.fetch(
        post(action, { inbox: 'inbox', filter: { error: 'boom' }, dryRun: true }),
      );
      expect(await tried.json()).toMatchObject({
        count: 3,
        isComplete: true,
        first: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      });
    }
    expect(await inbox.deadLetters.list()).toHaveLength(3);
    const none = await page.fetch(post('purge', { inbox: 'inbox', filter: { text: 'unknown' } }));
    expect(await none.json()).toEqual({ count: 0, isComplete: true });
    const purged = await page.fetch(post('purge', { inbox: 'inbox', filter: { text: 'alert' } }));
    expect(await purged.json()).toEqual({ count: 3, isComplete: true });
    expect(await inbox.deadLetters.list()).toEqual([]);
  });

  it.each<[object, string]>([
    [{ filter: {} }, 'at least one field'],
    [{ filter: 'stripe' }, 'filter must be an object.'],
    [{ filter: null }, 'filter must be an object.'],
    [{ filter: { sendr: 'stripe' } }, 'Did you mean "sender"'],
    [{ filter: { sender: 5 } }, 'sender must be a string'],
    [{ filter: { endedFrom: 'soon' } }, 'endedFrom must be a valid Date'],
    [{ filter: { sender: 'a' }, id: 'a' }, 'no id beside it'],
    [{ filter: { sender: 'a' }, dryRun: 1 }, 'dryRun must be a boolean'],
  ])('that is invalid is answered with 400, and moves nothing: %j', async (body, sentence) => {
    const inbox = await inboxWithDead('a');
    const page = pageOf(inbox);
    for (const path of ['redrive', 'purge']) {
      const answer = await page.fetch(post(path, { inbox: 'inbox', ...body }));
      expect(answer.status).toBe(400);
      expect((await problemOf(answer)).message).toContain(sentence);
    }
    expect(await inbox.deadLetters.list()).toHaveLength(1);
  });

  it('stops a search that takes too long, and says how to continue', async () => {
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const inbox = withDeadLetters({
      list: ({ signal }: { signal: AbortSignal }) =>
        new Promise((resolve) => {
          begun();
          signal.addEventListener('abort', () => {
            resolve({ deliveries: [], next: 4000 });
          });
        }),
    });
    const { page, clock } = watched({ inboxes: { inbox } });
    const answer = page.fetch(get('dead?inbox=inbox&text=x'));
    await hasBegun;
    clock.advance(10_000);
    expect(await (await answer).json()).toEqual({ items: [], next: '4000' });
  });
});
