import { describe, expect, it } from 'vitest';
import { SenderBed, type SeenRequest } from './bed.ts';

const limits = {
  rate: { perSecond: 100 },
  batch: { maxEvents: 10, maxDelayMs: 5000, maxBytes: 100_000 },
};

function idsOf({ body }: SeenRequest): string[] {
  return (body as { events: { id: string }[] }).events.map(({ id }) => id);
}

async function sendAll(bed: SenderBed, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) await bed.send(`e${String(n)}`);
}

/** A bed whose endpoint is known already. */
async function bedOf(answer?: ConstructorParameters<typeof SenderBed>[0]): Promise<SenderBed> {
  const bed = new SenderBed(undefined, { limits });
  await bed.send('first');
  await bed.run(6000);
  bed.requests.length = 0;
  if (answer !== undefined) bed.answer = answer;
  return bed;
}

describe('an endpoint with batches', () => {
  it('gets a request when there are enough events, or the first has waited for long enough', async () => {
    const bed = await bedOf();
    await sendAll(bed, 0, 25);
    await bed.run(1000);
    expect(bed.requests.map((request) => idsOf(request).length)).toEqual([10, 10]);
    await bed.run(3500);
    expect(bed.requests).toHaveLength(2);
    await bed.run(1000);
    expect(bed.requests.map((request) => idsOf(request).length)).toEqual([10, 10, 5]);
    expect(bed.requests.flatMap(idsOf)).toEqual(Array.from({ length: 25 }, (_, n) => `e${String(n)}`));
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 26, attempts: 4 } });
  });

  it('gets a refused batch again whole, under the same id', async () => {
    const bed = await bedOf(() => new Response(null, { status: 429, headers: { 'retry-after': '5' } }));
    await sendAll(bed, 0, 10);
    await bed.run(1000);
    bed.answer = () => new Response(null, { status: 204 });
    await sendAll(bed, 10, 13);
    await bed.run(20_000);
    const [refused, ...others] = bed.requests;
    const again = others.find(({ id }) => id === refused?.id);
    expect(again && idsOf(again)).toEqual(refused && idsOf(refused));
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 14 } });
  });

  it('gets halves after 413, down to the event at fault', async () => {
    const bed = await bedOf((request) => {
      return new Response(null, { status: idsOf(request).includes('e6') ? 413 : 204 });
    });
    await sendAll(bed, 0, 10);
    await bed.run(30_000);
    expect(await bed.sender.deadLetters.list()).toMatchObject([{ id: 'e6', error: 'HTTP 413' }]);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0, totals: { delivered: 10, dead: 1 } });
    expect(bed.types()).toContain('split');
  });

  it('gets those events again that 207 names', async () => {
    const bed = await bedOf(() => Response.json({ failed: ['e3', 'unknown'] }, { status: 207 }));
    await sendAll(bed, 0, 10);
    await bed.run(1000);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 1, totals: { delivered: 10 } });
    bed.answer = () => new Response(null, { status: 204 });
    await bed.run(20_000);
    expect(bed.requests.slice(1).flatMap(idsOf)).toEqual(['e3']);
    expect(bed.sender.snapshot()).toMatchObject({ depth: 0 });
  });

  it('gets them together with others, because they were not refused as a batch', async () => {
    const bed = await bedOf(() => Response.json({ failed: ['e3', 'e4'] }, { status: 207 }));
    await sendAll(bed, 0, 10);
    await bed.run(100);
    await bed.sender.endpoints.pause('a');
    await sendAll(bed, 10, 13);
    await bed.run(20_000);
    bed.answer = () => new Response(null, { status: 204 });
    await bed.sender.endpoints.resume('a');
    await bed.run(10_000);
    expect(bed.requests.slice(1).map((request) => idsOf(request).length)).toEqual([5]);
  });
});
