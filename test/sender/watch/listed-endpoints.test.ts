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
});
