import { describe, expect, it } from 'vitest';
import { draw, type Plan } from './plan.ts';
import regressions from './regressions.json' with { type: 'json' };
import { runPlan, search } from './search.ts';

/** `npm run vopr` searches more. */
const SEEDS = 50;

describe('the search', () => {
  it(`finds nothing with ${String(SEEDS)} seeds`, { timeout: 120_000 }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1)
      expect((await search(seed))?.outcome.failures, `seed ${String(seed)}`).toBeUndefined();
  });

  it('makes the same history of a seed each time', async () => {
    for (const seed of [1, 2, 3]) {
      const [one, two] = [await runPlan(draw(seed)), await runPlan(draw(seed))];
      expect(one.world.seen.length).toBeGreaterThan(3);
      for (const history of ['seen', 'committed', 'reported'] as const)
        expect(JSON.stringify(two.world[history])).toBe(JSON.stringify(one.world[history]));
    }
  });

  it.each(regressions.map(({ found, plan }) => [found, plan as unknown as Plan] as const))(
    'finds no more: %s',
    async (_found, plan) => {
      expect((await runPlan(plan)).failures).toEqual([]);
    },
  );
});
