import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { examplesIn } from '../../tooling/plans.js';

const examples = examplesIn(readFileSync(join(root, 'docs/sizing.md'), 'utf8'));

describe('docs/sizing.md', () => {
  // `npm run check:plans` compares them with the planner.
  it('has four examples', () => {
    expect(examples).toHaveLength(4);
  });
});
