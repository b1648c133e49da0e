import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { built } from './built.ts';

beforeAll(built, 120_000);

it('keeps the limits of each key, and holds a key whose handler throws RetryAfter', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/patterns/key-limits.js'], {
    cwd: root,
  });
  expect(stdout.trim().split('\n')).toEqual([
    'no call of small for two seconds after its 429: true',
    'then no more than 5 a second: true',
    'large went on in the meantime: true',
  ]);
}, 30_000);

it('starts critical keys first, and new deliveries before a backlog', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/patterns/priorities.js'], {
    cwd: root,
  });
  expect(stdout.trim().split('\n')).toEqual([
    'the invoice started among the first four: true',
    'the last profile started among the first twenty: true',
    'every delivery started once: true',
  ]);
}, 30_000);
