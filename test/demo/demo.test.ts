import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { run } from '../packaging/run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Demo = ChildProcessByStdio<null, Readable, Readable>;

let demo: Demo | undefined;

// The demo starts processes of its own, from what was built. Where that is up to date this is quick.
beforeAll(() => run('npx', ['tsc', '-b', 'demo'], root), 120_000);

afterEach(() => demo?.kill('SIGKILL'));

function start(...args: string[]): Demo {
  demo = spawn(process.execPath, ['demo/dist/main.js', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return demo;
}

it('delivers a small import with and without the middleware, and says so in plain lines', async () => {
  const started = start('--deliveries', '40');
  const closed = once(started, 'close');
  const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr)]);
  expect(errors).toBe('');
  expect(await closed).toEqual([0, null]);
  expect(output).toMatch(/^with +0 s {2}waiting \d+ \(marks 500 and 800\)/m);
  expect(output).toMatch(/^delivered +40 +40$/m);
  expect(output).toMatch(/^lost .* 0 +0$/m);
  expect(output).toMatch(/^answers: 204 +40 +40$/m);
  expect(output).not.toContain('\x1b');
}, 60_000);

it('kills a receiver with an inbox twice, and loses nothing', async () => {
  const started = start('--inbox', '--deliveries', '40');
  const closed = once(started, 'close');
  const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr)]);
  expect(errors).toBe('');
  expect(await closed).toEqual([0, null]);
  expect(output.match(/^killed .* acknowledged and not processed; back after \d+ ms$/gm)).toHaveLength(2);
  expect(output).toMatch(/^acknowledged +40$/m);
  expect(output).toMatch(/^processed +40$/m);
}, 60_000);

it('takes its children along when it is interrupted', async () => {
  const started = start();
  await new Promise<void>((resolve) => {
    // The first line of progress comes from the receiver, so both children are running.
    createInterface({ input: started.stdout }).on('line', (line) => {
      if (line.includes('waiting')) resolve();
    });
  });
  // They hold this pipe as well: it closes when the last of them is gone.
  const closed = once(started, 'close');
  started.kill('SIGINT');
  started.stderr.resume();
  expect(await closed).toEqual([130, null]);
}, 60_000);

it('says what is wrong with its option', async () => {
  const started = start('--deliveries', '0');
  const closed = once(started, 'close');
  started.stdout.resume();
  expect(await text(started.stderr)).toBe('--deliveries must be an integer from 1 to 20000, but was 0.\n');
  expect(await closed).toEqual([1, null]);
}, 60_000);
