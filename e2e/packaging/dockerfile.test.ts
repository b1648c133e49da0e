import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { testedVersion } from './packed.ts';
import { run } from '../../test/examples/run.ts';

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-dockerfile-'));
const packages = inject('packed');
const production = await readFile(join(root, 'docs/production.md'), 'utf8');

afterAll(() => rm(folder, { recursive: true }));

/** The first code block of docs/production.md that begins with this. */
function block(beginning: string): string {
  const start = production.indexOf(beginning);
  expect(start, beginning).toBeGreaterThan(-1);
  return production.slice(start + '```'.length, production.indexOf('```', start + 3)).replace(/^.*\n/, '');
}

interface Stage {
  readonly folder: string;
  readonly env: Record<string, string>;
  command: readonly string[];
}

/** Does what the Dockerfile says, as far as that needs no container. */
async function build(lines: readonly string[], context: string): Promise<Stage> {
  const stages = new Map<string, Stage>();
  let stage: Stage = { folder: '', env: {}, command: [] };
  for (const line of lines.filter((one) => one !== '')) {
    const [instruction = '', ...words] = line.split(' ');
    const rest = words.join(' ');
    if (instruction === 'FROM') {
      stage = { folder: join(folder, `stage-${String(stages.size)}`), env: {}, command: [] };
      stages.set(words[2] ?? 'last', stage);
      await mkdir(stage.folder);
    } else if (instruction === 'ENV') {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(rest) ?? [];
      stage.env[name] = value;
    } else if (instruction === 'COPY' && words[0] === '--from=build') {
      expect(words.slice(1)).toEqual(['/app', './']);
      await cp(stages.get('build')?.folder ?? '', stage.folder, { recursive: true });
    } else if (instruction === 'COPY') {
      expect(words.pop()).toBe('./');
      for (const file of words) await cp(join(context, file), join(stage.folder, file));
    } else if (instruction === 'RUN' && words[0] === 'npm') await run('npm', words.slice(1), stage.folder);
    else if (instruction === 'CMD') stage.command = JSON.parse(rest) as string[];
    // The others need a container.
    else
      expect(line).toMatch(/^(?:WORKDIR \/app|RUN mkdir \/data && .*|(?:VOLUME|USER|EXPOSE|STOPSIGNAL) .*)$/);
  }
  return stage;
}

it('installs and starts the app by the steps of the Dockerfile in docs/production.md', async () => {
  const context = join(folder, 'context');
  await mkdir(context);
  const { needs = [] } = packages.find(({ folder: one }) => one === 'express') ?? {};
  const needed = packages.filter(({ name }) => needs.includes(name));
  const dependencies = Object.fromEntries(needed.map(({ name, tarball }) => [name, `file:${tarball}`]));
  const manifest = {
    name: 'app',
    version: '1.0.0',
    private: true,
    dependencies: { ...dependencies, express: testedVersion('express') },
    devDependencies: { typescript: testedVersion('typescript') },
  };
  await writeFile(join(context, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(context, 'server.mjs'), block('```js\n// server.mjs'));
  await run('npm', ['install', '--package-lock-only', '--prefer-offline', '--ignore-scripts'], context);

  const { folder: workdir, env, command } = await build(block('```dockerfile').split('\n'), context);
  const app = spawn(process.execPath, command.slice(1), {
    cwd: workdir,
    env: { ...process.env, ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(app, 'exit');
  const [line] = (await once(app.stdout, 'data')) as [Buffer];
  const address = `http://127.0.0.1:${/port: (\d+)/.exec(String(line))?.[1] ?? ''}`;
  expect((await fetch(`${address}/ready`)).status).toBe(200);
  expect((await fetch(`${address}/webhooks`, { method: 'POST', body: '{}' })).status).toBe(204);
  app.kill('SIGTERM');
  while ((await fetch(`${address}/ready`)).status !== 503);
  // The second one ends it without the drain delay.
  app.kill('SIGTERM');
  expect(await exit).toEqual([null, 'SIGTERM']);
  await expect(readFile(join(workdir, 'node_modules/typescript/package.json'))).rejects.toThrow('ENOENT');
});
