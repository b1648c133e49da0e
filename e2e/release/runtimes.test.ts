import { spawn } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { tools } from '../packaging/tools.ts';
import { install, runtimes } from '../runtimes/tools.js';
import { NODE_AND_NPM, Project } from './project.ts';
import { code, curl, freePort } from './served.ts';

const { folder, registry } = inject('rehearsal');
const PACKAGE = '@webhook-backpressure/hono';

/** How a user of each runtime adds the packages, and runs a program that exports its app. */
const COMMANDS: Readonly<Record<string, { add: string; serve: (port: string) => string[] }>> = {
  Bun: { add: `bun add hono ${PACKAGE}`, serve: () => ['server.mjs'] },
  Deno: {
    // By default, Deno takes no version that is newer than 24 hours.
    add: `deno add --minimum-dependency-age=0 npm:hono npm:${PACKAGE}`,
    serve: (port) => ['serve', '--allow-all', '--port', port, 'server.mjs'],
  },
  workerd: {
    add: `npm install hono ${PACKAGE}`,
    serve: (port) => [join(import.meta.dirname, 'serve-worker.js'), 'server.mjs', port],
  },
};

/** The quick start of Hono, changed as it says for these runtimes. */
function program(): string {
  const [quickStart = ''] = code('packages/hono/README.md', 'js');
  const here = '// On Bun, Deno and Workers, write `export default app` instead.';
  expect(quickStart).toContain(here);
  const [before = ''] = quickStart.split(here);
  return `${before.replaceAll(/^import \{ (serve|closeOnSignals) \}.*\n/gm, '')}export default app;\n`;
}

beforeAll(install);

describe.each(runtimes)('an empty project on $name', ({ name, command }) => {
  it('installs the package from the registry, and runs the quick start of Hono', async () => {
    const { add, serve } = COMMANDS[name] ?? { add: '', serve: () => [] };
    const project = await Project.create(folder, registry, NODE_AND_NPM[2]);
    if (name !== 'workerd') await symlink(command, join(project.folder, '../bin', name.toLowerCase()));
    await project.sh(add);
    await project.write('server.mjs', program());
    const port = await freePort();
    const server = spawn(command, serve(port), {
      cwd: project.folder,
      env: { ...process.env, PORT: port },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(() => void server.kill());
    expect(await curl(project, `http://localhost:${port}`)).toMatch(/^HTTP\/1.1 204 /);
  });
});

describe('an empty project with pnpm', () => {
  it('links the packages that are installed by name', async () => {
    const project = await Project.create(folder, registry, NODE_AND_NPM[2]);
    await project.sh(`node ${tools.pnpm} add hono @hono/node-server ${PACKAGE}`);
    await project.write('names.mjs', `console.log(Object.keys(await import('${PACKAGE}/node')).join(' '))`);
    expect(await project.sh('node names.mjs')).toContain('closeOnSignals');
  });
});
