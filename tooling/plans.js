// Runs the commands of the planner that pages show, and writes their output below them: `node tooling/plans.js`, after a
// build. `--check`, in `npm run check`, only compares.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './packages.js';

const PAGES = ['README.md', 'docs/sizing.md', 'packages/planner/README.md'];
const EXAMPLE = /(```sh\nnpx @webhook-backpressure\/planner ([^\n]+)\n```\n\n```text\n)([\s\S]*?)(\n```)/g;

/**
 * The commands with output in a page.
 *
 * @param {string} markdown
 * @returns {{ args: string[], output: string }[]}
 */
export function examplesIn(markdown) {
  return [...markdown.matchAll(EXAMPLE)].map(([, , args = '', output = '']) => ({
    args: args.split(' '),
    output,
  }));
}

if (process.argv[1] === import.meta.filename) {
  for (const page of PAGES.map((path) => join(root, path))) {
    const written = readFileSync(page, 'utf8').replaceAll(
      EXAMPLE,
      (_, before, args, __, after) => `${String(before)}${outputOf(String(args).split(' '))}${String(after)}`,
    );
    if (!process.argv.includes('--check')) writeFileSync(page, written);
    else if (written !== readFileSync(page, 'utf8')) {
      console.error(`${page} shows other output than the planner prints. Update it: node tooling/plans.js`);
      process.exitCode = 1;
    }
  }
}

/** @param {string[]} args */
function outputOf(args) {
  const program = join(root, 'packages/planner/dist/cli.js');
  return execFileSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trimEnd();
}
