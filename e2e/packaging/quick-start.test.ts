import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { testedVersion } from './packed.ts';
import { run } from '../../test/examples/run.ts';
import { tools } from './tools.ts';

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-quick-start-'));
const packages = inject('packed');

afterAll(() => rm(folder, { recursive: true }));

// pnpm links only what package.json names, so that a quick start that imports another of our packages fails.
it('runs the quick start of the README where pnpm has installed only the adapter', async () => {
  const { pnpm } = tools;
  const project = join(folder, 'project');
  const tarballs = Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`]));
  const adapter = '@webhook-backpressure/express';
  await mkdir(project);
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({
      private: true,
      type: 'module',
      dependencies: { [adapter]: tarballs[adapter], express: testedVersion('express') },
      pnpm: { overrides: tarballs },
    }),
  );
  await run(process.execPath, [pnpm, 'install', '--prefer-offline', '--ignore-scripts'], project);

  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const [, quickStart = ''] = /^```[jt]s\n((?:(?!```)[^])*?listen\((?:(?!```)[^])*)```/m.exec(readme) ?? [];
  expect(quickStart).toContain(adapter);
  await writeFile(
    join(project, 'quick-start.js'),
    quickStart
      .replace('listen(3000', 'listen(0')
      .replace("'listening on port 3000'", 'server.address().port'),
  );
  const app = spawn(process.execPath, ['quick-start.js'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(app.stdout, 'data')) as [Buffer];
  const response = await fetch(`http://127.0.0.1:${String(line).trim()}/webhooks`, {
    method: 'POST',
    body: '{"type":"order.created"}',
  });
  expect(response.status).toBe(204);
  app.kill('SIGTERM');
  // It has closed, and then lets the signal end the process.
  expect(await once(app, 'exit')).toEqual([null, 'SIGTERM']);
});
