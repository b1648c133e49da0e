import { describe, expect, it } from 'vitest';
import { SenderBed } from './bed.ts';

describe('createSender', () => {
  it('delivers an event', async () => {
    const bed = new SenderBed();
    await expect(bed.send('1')).resolves.toEqual({ id: '1', status: 'accepted' });
    await bed.settle();
    expect(bed.requests).toMatchObject([
      { url: 'https://a.example/hook', id: '1', body: { type: 'test', data: { id: '1' } } },
    ]);
    expect(bed.types()).toEqual(['accepted', 'started', 'delivered']);
    expect(bed.sender.snapshot()).toMatchObject({
      depth: 0,
      inFlight: 0,
      totals: { accepted: 1, delivered: 1 },
    });
    await expect(bed.send('1')).resolves.toEqual({ id: '1', status: 'duplicate' });
    await bed.sender.close();
    expect(bed.clock.pending).toBe(0);
  });
});
