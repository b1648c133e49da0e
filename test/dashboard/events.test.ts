import { createIntake, type Intake } from '@webhook-backpressure/core';
import { describe, expect, it, vi } from 'vitest';
import type { PageState } from '@webhook-backpressure/dashboard';
import { EventReader, get, inboxWithDead, post, problemOf, watched, type Watched } from './fixtures.ts';

async function opened({ page }: Watched): Promise<EventReader> {
  const answer = await page.fetch(get('events'));
  expect(answer.status).toBe(200);
  return new EventReader(answer);
}

/** An intake that is not of the library, whose windows and alarms cannot be measured. */
function ownIntake(snapshot: () => object): Intake {
  const [admit, update] = [vi.fn(), vi.fn()];
  return { admit, update, snapshot } as unknown as Intake;
}

describe('GET events', () => {
  it('sends the state immediately, and then each second', async () => {
    const parts = watched();
    const reader = await opened(parts);
    expect(await reader.next()).toMatchObject({ event: 'state', data: { version: 1 } });
    parts.intake.admit();
    parts.intake.admit();
    parts.clock.advance(1000);
    const { data } = (await reader.next()) as { data: PageState };
    expect(data.intakes['intake']).toMatchObject({
      snapshot: { depth: 1, active: 1 },
      rates: { arrivals: 2, started: 1 },
    });
    expect(data.intakes['intake']).not.toHaveProperty('history');
    expect(data).not.toHaveProperty('changes');
  });

  it('is not held back by proxies and compression', async () => {
    const { headers } = await watched().page.fetch(get('events'));
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
  });

  it('is the last answer of its connection, which would keep a server that closes waiting', async () => {
    const { headers } = await watched().page.fetch(get('events'));
    expect(headers.get('connection')).toBe('close');
  });

  it('reports a change that a page made to all pages', async () => {
    const parts = watched({ allowUpdate: true });
    const readers = [await opened(parts), await opened(parts)];
    await parts.page.fetch(post('update', { intake: 'intake', options: { capacity: 50 } }));
    parts.clock.advance(1000);
    for (const reader of readers) {
      expect(await reader.next()).toMatchObject({ event: 'state' });
      expect(await reader.next()).toEqual({
        event: 'change',
        data: { at: expect.any(Number) as number, kind: 'intake', name: 'intake', options: { capacity: 50 } },
      });
      // And it is not reported again.
      expect(await reader.next()).toMatchObject({ event: 'state' });
    }
  });

  it('reports a change that the program made', async () => {
    const parts = watched();
    const reader = await opened(parts);
    await reader.next();
    parts.intake.update({ shed: { noisy: true } });
    parts.inbox.update({ concurrency: 3 });
    parts.clock.advance(1000);
    const changes = [await reader.next(), await reader.next()];
    expect(changes).toMatchObject([
      { event: 'change', data: { kind: 'intake', name: 'intake', options: { shed: ['noisy'] } } },
      { event: 'change', data: { kind: 'inbox', name: 'inbox', options: { concurrency: 3 } } },
    ]);
  });

  it('reports redriven and purged dead letters', async () => {
    const inbox = await inboxWithDead('a', 'b');
    const parts = watched({ inboxes: { inbox }, allowUpdate: true });
    const reader = await opened(parts);
    await reader.next();
    await parts.page.fetch(post('purge', { inbox: 'inbox' }));
    expect(await reader.next()).toMatchObject({
      event: 'change',
      data: { kind: 'inbox', name: 'inbox', action: 'purge', count: 2 },
    });
  });

  it('ends the streams once all intakes and inboxes are closed, so that the server can end', async () => {
    const parts = watched();
    const reader = await opened(parts);
    await reader.next();
    await parts.intake.close();
    parts.clock.advance(1000);
    expect(await reader.next()).toMatchObject({ event: 'state' });
    await parts.inbox.close();
    parts.clock.advance(1000);
    const { data } = (await reader.next()) as { data: PageState };
    expect(data.inboxes['inbox']?.snapshot.state).toBe('closed');
    expect(await reader.next()).toBeNull();

    // A program that goes on can still be looked at.
    const later = await opened(parts);
    await later.next();
    parts.clock.advance(1000);
    expect(await later.next()).toMatchObject({ event: 'state' });
  });

  it('still shows an intake that was closed meanwhile', async () => {
    const parts = watched();
    const reader = await opened(parts);
    await reader.next();
    await parts.intake.close();
    parts.clock.advance(1000);
    expect(await reader.next()).toMatchObject({
      data: { intakes: { intake: { snapshot: { state: 'closed' } } } },
    });
  });

  it('goes on when a source fails', async () => {
    const intake = createIntake();
    let isBroken = false;
    const broken = ownIntake(() => {
      if (isBroken) throw new Error('It broke.');
      return intake.snapshot();
    });
    const parts = watched({ intakes: { broken, intake } });
    const reader = await opened(parts);
    await reader.next();
    isBroken = true;
    intake.admit();
    parts.clock.advance(1000);
    expect(await reader.next()).toMatchObject({ data: { intakes: { intake: { rates: { arrivals: 1 } } } } });
    expect(parts.errors).toEqual([new Error('It broke.')]);
    // As of its last sample.
    const answer = await parts.page.fetch(get('state'));
    expect(await answer.json()).toMatchObject({ intakes: { broken: { snapshot: { depth: 0 } } } });
  });

  it('goes on when a source has a value that JSON has not', async () => {
    const intake = createIntake();
    let isOdd = false;
    const odd = ownIntake(() => (isOdd ? { ...intake.snapshot(), depth: 1n } : intake.snapshot()));
    const parts = watched({ intakes: { odd } });
    const reader = await opened(parts);
    await reader.next();
    isOdd = true;
    parts.clock.advance(1000);
    isOdd = false;
    parts.clock.advance(1000);
    expect(await reader.next()).toMatchObject({ event: 'state' });
    expect(parts.errors).toContainEqual(new TypeError('Do not know how to serialize a BigInt'));
  });

  it('drops a page that does not read, when it does not end within a second', async () => {
    const parts = watched();
    const reader = await opened(parts);
    await reader.next();
    await Promise.all([parts.intake.close(), parts.inbox.close()]);
    parts.clock.advance(1000);
    parts.clock.advance(1000);
    await expect(reader.next()).rejects.toThrow('The page reads too slowly.');
  });

  it('ends when the dashboard is closed, which then reads nothing more', async () => {
    const parts = watched();
    const reader = await opened(parts);
    await reader.next();
    const { pending } = parts.clock;
    parts.page.close();
    expect(await reader.next()).toBeNull();
    expect(parts.clock.pending).toBe(pending - 1);
  });
});

describe('many pages', () => {
  it('cost one serialization per second, and none when no page is open', async () => {
    const parts = watched();
    const stringify = vi.spyOn(JSON, 'stringify');
    try {
      parts.clock.advance(5000);
      expect(stringify).toHaveBeenCalledTimes(0);
      const readers = await Promise.all(Array.from({ length: 50 }, () => opened(parts)));
      expect(stringify).toHaveBeenCalledTimes(1);
      parts.clock.advance(3000);
      expect(stringify).toHaveBeenCalledTimes(4);
      for (const reader of readers) {
        for (let message = 0; message < 4; message += 1)
          expect(await reader.next()).toMatchObject({ event: 'state' });
        await reader.cancel();
      }
      parts.clock.advance(5000);
      expect(stringify).toHaveBeenCalledTimes(4);
    } finally {
      stringify.mockRestore();
    }
  });

  it('drop one that reads too slowly, and no other', async () => {
    const parts = watched();
    const slow = await opened(parts);
    const fast = await opened(parts);
    for (let second = 0; second < 40; second += 1) {
      parts.clock.advance(1000);
      expect(await fast.next()).not.toBeNull();
    }
    await expect(slow.next()).rejects.toThrow('The page reads too slowly.');
    expect(await fast.next()).not.toBeNull();
  });

  it('are refused above 200, until one closes', async () => {
    const parts = watched();
    const readers = await Promise.all(Array.from({ length: 200 }, () => opened(parts)));
    const answer = await parts.page.fetch(get('events'));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('10');
    expect((await problemOf(answer)).code).toBe('TOO_MANY_PAGES');
    await readers[0]?.cancel();
    await opened(parts);
  });
});
