import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as adapter from '@webhook-backpressure/express';
import * as vitest from 'vitest';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleSources } from '../../tooling/bundle-sources.ts';
import { root } from '../../tooling/packages.js';
import { page, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';

/** Below node_modules, so that the packages that the blocks import are found from there. */
const FOLDER = join(root, 'node_modules/.cache/webhook-backpressure', `testing-${String(process.pid)}`);

/** The files that the page shows, by name. */
const files = new Map(
  tokensOf('code', page('docs/testing.md').tokens)
    .filter(({ lang }) => lang === 'ts')
    .map(({ text }) => [/^\/\/ (\S+\.ts)\n/.exec(text)?.[1] ?? text, text]),
);
const tests = [...files.keys()].filter((name) => name.endsWith('.test.ts'));
const forVitest = tests.filter((name) => files.get(name)?.includes("from 'vitest'"));
const forNode = tests.filter((name) => !forVitest.includes(name));

/** Bundles tests into one program, since Node 20 runs no TypeScript, with our packages from their sources. */
async function bundle(names: readonly string[]): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(FOLDER, name), text);
  const entry = join(FOLDER, 'all.ts');
  writeFileSync(entry, names.map((name) => `import './${name}';\n`).join(''));
  await bundleSources(entry, join(FOLDER, 'out'), 'all.mjs');
  return join(FOLDER, 'out/all.mjs');
}

/** Runs a program until it ends by itself, which it does not if a test leaves something open. */
function run(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = ['--test-reporter=tap', program];
    execFile(process.execPath, args, { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.message}\n${stdout}${stderr}`));
    });
  });
}

afterAll(() => {
  rmSync(FOLDER, { recursive: true, force: true });
});

it('shows files with names, of which most are tests', () => {
  expect([...files.keys()].filter((name) => !/^[\w.-]+\.ts$/.test(name))).toEqual([]);
  expect([...files.keys()].filter((name) => !tests.includes(name))).toEqual(['listen.ts']);
  expect([forNode.length, forVitest.length]).toEqual([9, 1]);
});

it('shows tests for Node that pass, and leave nothing open', async () => {
  const output = await run(await bundle(forNode));
  const shown = [...files.values()].join('').match(/^test\('/gm) ?? [];
  expect(output).toMatch(/^# fail 0$/m);
  // One of them is for Vitest.
  expect(output).toMatch(new RegExp(`^# pass ${String(shown.length - 1)}$`, 'm'));
}, 120_000);

describe.each(forVitest)('%s', (name) => {
  const modules: Record<string, unknown> = { vitest, '@webhook-backpressure/express': adapter };
  runBlock(files.get(name) ?? '', modules);
});
