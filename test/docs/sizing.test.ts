import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { examplesIn } from '../../tooling/plans.js';
import { planOf } from './plan-of.ts';

const examples = examplesIn(readFileSync(join(root, 'docs/sizing.md'), 'utf8'));

describe('docs/sizing.md', () => {
  it('has four examples', () => {
    expect(examples).toHaveLength(4);
  });

  // The quickest one. `npm run check` compares all of them, which takes half a minute.
  it('shows the output of the planner', { timeout: 60_000 }, async () => {
    const { args, output } = examples[1] as (typeof examples)[number];
    // After an intended change of behavior: node tooling/plans.js
    expect(await planOf(args)).toBe(output);
  });
});
