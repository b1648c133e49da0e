import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../packages/planner/src/cli/run-cli.ts';
import { root } from '../../tooling/packages.js';
import { examplesIn } from '../../tooling/plans.js';

const examples = examplesIn(readFileSync(join(root, 'docs/sizing.md'), 'utf8'));

async function outputOf(args: readonly string[]): Promise<string> {
  let output = '';
  await runCli(args, {
    out: (text) => (output += text),
    err: (text) => (output += text),
    terminal: { columns: 100, isColored: false },
    version: '',
    now: () => 0,
  });
  return output;
}

describe('docs/sizing.md', () => {
  it('has four examples', () => {
    expect(examples).toHaveLength(4);
  });

  it.each(examples)(
    'shows the output of the planner with $args',
    { timeout: 60_000 },
    async ({ args, output }) => {
      // After an intended change of behavior: node tooling/plans.js
      expect(await outputOf(args)).toBe(output);
    },
  );
});
