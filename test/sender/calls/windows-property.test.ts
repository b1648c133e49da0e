import fc from 'fast-check';
import { expect, it } from 'vitest';
import { answer, bed, excessOf, Outcomes } from './bed.ts';

const PREFIXES = ['https://a.example/', 'https://a.example/slow/', 'https://b.example/'] as const;

/** What a test does next. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('call' as const),
    prefix: fc.nat(PREFIXES.length - 1),
    times: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 3000 }) }),
  fc.record({ kind: fc.constant('abort' as const) }),
  fc.record({ kind: fc.constant('answer' as const), at: fc.nat(50), refused: fc.nat(9) }),
);

const limit = fc.record({
  perSecond: fc.integer({ min: 1, max: 200 }),
  burst: fc.integer({ min: 1, max: 40 }),
  maxInFlight: fc.integer({ min: 1, max: 20 }),
  documented: fc.constant(false),
});

/** The longest prefix of a URL. */
function indexOf(url: string): number {
  return PREFIXES.reduce(
    (best, one, at) => (url.startsWith(one) && one >= (PREFIXES[best] ?? '') ? at : best),
    url.startsWith('https://b') ? 2 : 0,
  );
}

// The first check costs more than a second, with the compilation.
it('never exceeds burst + rate × time or the calls in flight in any window, in order, and ends every call', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(limit, limit, limit),
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      async (limits, steps, chance) => {
        const api = bed({
          limits: Object.fromEntries(PREFIXES.map((prefix, at) => [prefix, limits[at] ?? limits[0]])),
          random: () => (chance.next().value as number | undefined) ?? 0,
        });
        let tooMany = 0;
        api.reply = (url) => {
          const at = indexOf(url);
          const others = api.inFlight.filter((one) => indexOf(one.url) === at).length;
          if (others >= (limits[at] ?? limits[0]).maxInFlight) tooMany += 1;
          return undefined;
        };
        const calls = new Outcomes();
        let controller = new AbortController();
        let made = 0;
        for (const one of steps) {
          if (one.kind === 'pass') await api.pass(one.ms);
          else if (one.kind === 'abort') {
            controller.abort(new Error('aborted'));
            controller = new AbortController();
          } else if (one.kind === 'answer') {
            const [settle] = api.inFlight.splice(one.at % Math.max(1, api.inFlight.length), 1);
            settle?.(one.refused === 0 ? answer(429, { 'retry-after': '1' }) : answer(200));
          } else {
            const prefix = PREFIXES[one.prefix] ?? PREFIXES[0];
            for (let left = one.times; left > 0; left -= 1)
              calls.add(api.fetch(`${prefix}${String((made += 1))}`, { signal: controller.signal }));
          }
        }
        api.reply = () => answer(200);
        for (const settle of api.inFlight.splice(0)) settle(answer(200));
        await api.pass(20_000);
        expect(calls.ok + calls.seconds.length + calls.errors.length).toBe(made);
        expect(api.clock.pending).toBe(0);
        expect(tooMany).toBe(0);
        for (const at of PREFIXES.keys()) {
          const own = api.starts.filter(({ url }) => indexOf(url) === at);
          const { perSecond, burst } = limits[at] ?? limits[0];
          expect(excessOf(own, { amount: perSecond, periodMs: 1000, burst })).toBe(0);
          // The first attempts are in the order of the calls.
          const numbers = [...new Set(own.map(({ url }) => Number(url.split('/').at(-1))))];
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        }
      },
    ),
    { numRuns: 60, seed: 27 },
  );
}, 60_000);
