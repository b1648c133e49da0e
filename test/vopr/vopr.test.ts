import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { draw, type Plan } from './plan.ts';
import planted from './planted-bugs.json' with { type: 'json' };
import regressions from './regressions.json' with { type: 'json' };
import { runPlan } from './search.ts';

const PROGRAM = join(import.meta.dirname, '../../tooling/vopr.js');
const PACKAGES = join(import.meta.dirname, '../../packages');

describe('the search', () => {
  // As one bundle, in which a seed takes a third of the time.
  it('finds nothing with 200 seeds', { timeout: 240_000 }, async () => {
    const run = promisify(execFile)(process.execPath, [PROGRAM, '--seeds', '200']);
    const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
    expect(stdout).toMatch(/^200 seeds from 1 in .*: 0 failed\.$/m);
  });

  it.each(planted)('is tried with a planted bug in a place that exists: $name', ({ file, from }) => {
    expect(readFileSync(join(PACKAGES, file), 'utf8').split(from)).toHaveLength(2);
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
