import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { adapters } from '../../tooling/packages.js';
import { end, endAll, NODE_AND_NPM, Project } from './project.ts';
import { code, codeWith, curl, reach, sendSigned, serve } from './served.ts';

const { folder, registry } = inject('rehearsal');
const [oldest, , active] = NODE_AND_NPM;

afterEach(endAll);

/** An empty project in which the first commands of a page have been run. */
async function installed(path: string, version: (typeof NODE_AND_NPM)[number] = active): Promise<Project> {
  const project = await Project.create(folder, registry, version);
  await project.sh(codeWith('npm install', path, 'sh'));
  return project;
}

const readmes = adapters().map(({ folder }) => `packages/${folder}/README.md`);

describe.each(['README.md', ...readmes])('the quick start of %s', (path) => {
  it('answers curl with 204, prints the event, and ends on SIGTERM', async () => {
    const project = await installed(path);
    const server = await serve(project, code(path, 'js')[0] ?? '');
    expect(await curl(project, server.url)).toMatch(/^HTTP\/1.1 204 /);
    expect(await end(server)).toContain('order.created');
  });
});

describe('the README', () => {
  it.each([oldest, active])('has an inbox, on Node.js $node', async (version) => {
    const project = await Project.create(folder, registry, version);
    await project.sh(codeWith('/sqlite', 'README.md', 'sh'));
    const program = codeWith('webhookInbox', 'README.md', 'js');
    const server = await serve(project, program, { WEBHOOK_SECRET: 'secret' });
    expect(await curl(project, server.url)).toMatch(/^HTTP\/1.1 401 /);
    expect((await sendSigned(server, 'secret')).status).toBe(200);
    await vi.waitFor(() => {
      expect(server.printed()).toContain("processed { type: 'order.created' }");
    }, 20_000);
    await end(server);

    const again = await serve(project, program.replace(/verify: verifiers.*$/m, 'verify: false,'));
    expect(await curl(project, again.url)).toMatch(/^HTTP\/1.1 200 [^]*"status":"accepted"/);
    await end(again);
  });
});

describe('packages/sqlite/README.md', () => {
  it('stores a signed delivery and processes it, and its command shows the file', async () => {
    const path = 'packages/sqlite/README.md';
    const project = await installed(path);
    const server = await serve(project, code(path, 'js')[0] ?? '', { WEBHOOK_SECRET: 'secret' });
    expect((await sendSigned(server, 'secret')).status).toBe(200);
    await vi.waitFor(() => {
      expect(server.printed()).toContain("{ type: 'order.created' }");
    }, 20_000);
    await end(server);
    expect(await project.sh('npx @webhook-backpressure/sqlite status webhooks.db')).toMatch(
      /^unfinished +0 /m,
    );
  });
});

describe('packages/dashboard/README.md', () => {
  it('serves the page to the operator only', async () => {
    const path = 'packages/dashboard/README.md';
    const project = await installed(path);
    const server = await serve(project, code(path, 'js')[0] ?? '', { PAGE_PASSWORD: 'secret' });
    expect((await reach(`${server.url}/backpressure`)).status).toBe(401);
    const headers = { authorization: `Basic ${btoa('operator:secret')}` };
    expect((await reach(`${server.url}/backpressure`, { headers })).status).toBe(200);
  });
});

describe('packages/prometheus/README.md', () => {
  it('exports metrics', async () => {
    const path = 'packages/prometheus/README.md';
    const project = await installed(path);
    const server = await serve(project, code(path, 'js')[0] ?? '');
    const metrics = await (await reach(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^webhook_intake_queue_depth 0$/m);
  });
});

describe('packages/core/README.md', () => {
  it('admits a delivery', async () => {
    const path = 'packages/core/README.md';
    const project = await installed(path);
    await project.write('intake.mjs', code(path, 'js')[0] ?? '');
    const { output } = project.start('intake.mjs');
    expect(await output).toBe('process the delivery; it was queued for 0 ms\n');
  });
});

describe('packages/planner/README.md', () => {
  it('plans with a command that installs nothing before', async () => {
    const project = await Project.create(folder, registry, active);
    const planned = await project.sh(
      codeWith('npx @webhook-backpressure/planner', 'packages/planner/README.md', 'sh'),
    );
    expect(planned).toContain('* Recommended: the inbox');
  });
});
