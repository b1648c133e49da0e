import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seeded, SenderBed, type SeenRequest } from './bed.ts';

const BATCH = { maxEvents: 7, maxDelayMs: 2000, maxBytes: 1000 };
const limits = { rate: { perSecond: 50 }, burst: 5, maxInFlight: 3, batch: BATCH };

function idsOf({ body }: SeenRequest): string[] {
  return (body as { events: { id: string }[] }).events.map(({ id }) => id);
}

function bytesOf({ body }: SeenRequest): number {
  return new TextEncoder().encode(JSON.stringify(body)).byteLength;
}

/** An endpoint that loses, refuses and limits requests at random, and never accepts some events. */
function answering(
  seed: number,
  bad: ReadonlySet<string>,
  accepted: string[],
): (request: SeenRequest) => Response {
  const random = seeded(seed);
  return (request) => {
    const ids = idsOf(request);
    const chance = random();
    if (chance < 0.1) return new Response(null, { status: 429, headers: { 'retry-after': '1' } });
    if (chance < 0.2) return new Response(null, { status: 408 });
    if (chance < 0.25) throw new TypeError('The connection was closed.');
    if (chance < 0.4) {
      const failed = ids.filter((id) => bad.has(id) || random() < 0.3);
      accepted.push(...ids.filter((id) => !failed.includes(id)));
      return Response.json({ failed: [...failed, 'unknown'] }, { status: failed.length === 0 ? 200 : 207 });
    }
    if (ids.some((id) => bad.has(id))) return new Response(null, { status: random() < 0.5 ? 413 : 422 });
    accepted.push(...ids);
    return new Response(null, { status: 200 });
  };
}

it('delivers each event of batches once, except those at fault, whatever the endpoint answers', async () => {
  const runs = fc.record({
    seed: fc.nat(),
    count: fc.integer({ min: 1, max: 40 }),
    bad: fc.uniqueArray(fc.nat(39), { maxLength: 3 }),
    pauses: fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 5, maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(runs, async ({ seed, count, bad, pauses }) => {
      const ids = Array.from({ length: count }, (_, at) => `e${String(at)}`);
      const atFault = new Set(bad.map((at) => `e${String(at)}`).filter((id) => ids.includes(id)));
      const accepted: string[] = [];
      const bed = new SenderBed(answering(seed, atFault, accepted), {
        limits,
        retry: { maxDelayMs: 10_000 },
      });
      for (const [at, id] of ids.entries()) {
        await bed.sender.send({ endpoint: 'a', type: 't', data: 'x'.repeat((at * 37) % 400), id });
        if (at % 8 === 7) await bed.run(pauses[(at - 7) / 8] ?? 0, 500);
      }
      for (let round = 0; round < 400 && bed.sender.snapshot().depth > 0; round += 1)
        await bed.run(2000, 500);
      const dead = (await bed.sender.deadLetters.list()).map(({ id }) => id);
      expect(bed.sender.snapshot()).toMatchObject({ depth: 0 });
      expect([...accepted, ...dead].sort()).toEqual([...ids].sort());
      expect(dead.filter((id) => !atFault.has(id))).toEqual([]);
      const contents = new Map<string, string>();
      for (const request of bed.requests) {
        const of = idsOf(request);
        expect(of.length).toBeLessThanOrEqual(BATCH.maxEvents);
        if (of.length > 1) expect(bytesOf(request)).toBeLessThanOrEqual(BATCH.maxBytes);
        // The same id is the same content.
        expect(contents.get(request.id) ?? JSON.stringify(request.body)).toBe(JSON.stringify(request.body));
        contents.set(request.id, JSON.stringify(request.body));
      }
      await bed.sender.close();
    }),
    { seed: 1, numRuns: 12 },
  );
});
