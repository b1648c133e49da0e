import { observe } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { SenderBed } from '../dispatch/bed.ts';

function listed(bed: SenderBed): string[] {
  return bed.sender.snapshot().endpoints.map(({ endpoint, state }) => `${endpoint} ${state}`);
}

describe('the endpoints in a snapshot', () => {
  it('are those with attempts, the busiest first, then those with events, then those that are stopped', async () => {
    const bed = new SenderBed(({ url }) => new Response(null, { status: url.includes('gone') ? 410 : 204 }));
    await bed.sender.opened;
    await bed.sender.endpoints.pause('waiting');
    await bed.sender.endpoints.pause('stopped');
    await bed.send('1', 'one');
    for (const id of ['2', '3', '4']) await bed.send(id, 'three');
    await bed.send('5', 'waiting');
    await bed.settle();
    observe(bed.sender);
    await bed.send('6', 'gone');
    for (const id of ['7', '8']) await bed.send(id, 'three');
    await bed.send('9', 'one');
    await bed.run(1000);
    expect(listed(bed).slice(0, 1)).toEqual(['three active']);
    expect(listed(bed).slice(1).sort()).toEqual([
      'gone disabled',
      'one active',
      'stopped paused',
      'waiting paused',
    ]);
    expect(listed(bed).at(-1)).toBe('stopped paused');
    await bed.sender.close();
  });

  it('have those that are stopped, long after their last event', async () => {
    const bed = new SenderBed(() => new Response(null, { status: 410 }));
    await bed.send('1', 'gone');
    await bed.settle();
    await bed.run(600_000, 60_000);
    expect(listed(bed)).toEqual(['gone disabled']);
    expect(bed.sender.endpoints.get('gone')).toMatchObject({ disabledBecause: 'gone' });
    expect(bed.sender.endpoints.get('other')).toBeUndefined();
    await bed.sender.close();
  });

  it('are the thousand with the most events, of thousands without attempts', async () => {
    const bed = new SenderBed(undefined, { endpoint: () => new Promise<never>(() => undefined) });
    const sends: Promise<unknown>[] = [];
    // Those with the most come first, in the middle and last.
    for (let n = 0; n < 2600; n += 1)
      for (let event = 0; event < (n % 1299 === 0 ? 3 + n / 1299 : 1); event += 1)
        sends.push(bed.send(`${String(n)}-${String(event)}`, `ep${String(n)}`));
    await bed.settle(60);
    await Promise.all(sends);
    const { endpoints, states } = bed.sender.snapshot();
    expect(endpoints).toHaveLength(1000);
    expect(new Set(endpoints.map(({ endpoint }) => endpoint)).size).toBe(1000);
    expect(endpoints.slice(0, 4).map(({ endpoint, queued }) => [endpoint, queued])).toEqual([
      ['ep2598', 5],
      ['ep1299', 4],
      ['ep0', 3],
      [expect.any(String), 1],
    ]);
    expect(states.active).toBe(2600);
    expect(bed.sender.endpoints.list({ limit: 2, offset: 1 }).map(({ endpoint }) => endpoint)).toEqual([
      'ep1299',
      'ep0',
    ]);
  });
});
