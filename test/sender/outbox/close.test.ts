import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { SenderBed } from '../dispatch/bed.ts';
import { noted } from './ended-calls.ts';

const hanging = (): Promise<never> => new Promise<never>(() => undefined);

describe('close', () => {
  it('rejects calls that wait for room, and later ones', async () => {
    const bed = new SenderBed(hanging, { capacity: 1 });
    const ended: string[] = [];
    const calls = noted(bed, ['1', '2'], ended);
    await bed.settle();
    const closed = bed.sender.close({ timeoutMs: 0 });
    void noted(bed, ['3'], ended);
    await bed.run(100);
    await calls;
    expect(ended).toEqual(['1', '3: ERR_WBP_SENDER_CLOSED', '2: ERR_WBP_SENDER_CLOSED']);
    await expect(closed).resolves.toEqual({ completed: 0, remaining: 1 });
  });

  it('lets requests end, then gives up the others, whose events are delivered by the next process', async () => {
    const store = memoryStore();
    const bed = new SenderBed(
      async ({ id }) => {
        await bed.later(id === 'slow' ? 60_000 : 2000);
        return new Response(null, { status: 204 });
      },
      { store },
    );
    await bed.send('quick');
    await bed.send('slow');
    await bed.settle();
    const closed = bed.sender.close({ timeoutMs: 5000 });
    await bed.run(6000);
    await expect(closed).resolves.toEqual({ completed: 1, remaining: 1 });
    expect(bed.requests.find(({ id }) => id === 'slow')?.signal.aborted).toBe(true);
    expect(bed.events.at(-1)).toMatchObject({ type: 'closed', completed: 1, remaining: 1 });
    expect(await store.stats()).toMatchObject({ depth: 1, inFlight: 0 });

    const next = new SenderBed(undefined, { store }, bed.clock);
    await next.run(1000);
    expect(next.requests.map(({ id }) => id)).toEqual(['slow']);
    expect(next.events.find(({ type }) => type === 'delivered')).toMatchObject({ attempt: 1 });
  });

  it('repeats a result that the store has not stored', async () => {
    const store = memoryStore();
    const bed = new SenderBed(
      async () => {
        await bed.later(1000);
        return new Response(null, { status: 204 });
      },
      { store },
    );
    await bed.send('1');
    await bed.settle();
    const closed = bed.sender.close();
    vi.spyOn(store, 'settle').mockImplementationOnce(() => {
      throw new Error('disk full');
    });
    await bed.run(3000);
    await expect(closed).resolves.toEqual({ completed: 1, remaining: 0 });
    expect(bed.types()).toContain('store-failed');
    expect(bed.sender.snapshot().totals.delivered).toBe(1);
  });

  it('leaves no timer', async () => {
    const bed = new SenderBed(() => new Response(null, { status: 500 }));
    await bed.send('1');
    await bed.run(1000);
    await bed.sender.close();
    await bed.run(30_000);
    expect(bed.clock.pending).toBe(0);
  });
});
