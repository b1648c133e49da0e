import { dirname } from 'node:path';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { page } from '../../test/docs/pages.ts';
import { end, endAll, NODE_AND_NPM, Project } from './project.ts';
import { code, codeWith, freePort, reach, sendSigned, serve, type Served } from './served.ts';

const { folder, registry } = inject('rehearsal');
const [oldest] = NODE_AND_NPM;
/** As create-next-app installs them. */
const NEXT =
  'npm install next@16.4.6 react@19.3.1 react-dom@19.3.1 typescript@5 @types/node@20 @types/react@19';

afterEach(endAll);

/** Prints how long each step of a page takes for a user who copies it. */
async function timed<T>(step: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await work();
  console.log(`${step}: ${((performance.now() - from) / 1000).toFixed(1)} s`);
  return result;
}

async function expectInboxAndMetrics(server: Served): Promise<void> {
  const unsigned = await reach(`${server.url}/webhooks`, { method: 'POST', body: '{}' });
  expect(unsigned.status).toBe(401);
  expect((await sendSigned(server, 'secret')).status).toBe(200);
  await vi.waitFor(() => {
    expect(server.printed()).toContain("{ type: 'order.created' }");
  }, 20_000);
  const metrics = await (await reach(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^webhook_inbox_stored_total(\{.*\})? 1$/m);
}

// On the release that needs libsql, as the pages say.
describe('an app with an inbox, metrics and a live page', () => {
  it('is in packages/fastify/README.md', async () => {
    const path = 'packages/fastify/README.md';
    const project = await Project.create(folder, registry, oldest);
    await timed('Fastify, install', () =>
      project.sh(codeWith('@webhook-backpressure/dashboard', path, 'sh')),
    );
    const program = code(path, 'js').find((block) => block.includes('webhookInbox')) ?? '';
    await timed('Fastify, first delivery and metrics', async () => {
      const server = await serve(project, program, { WEBHOOK_SECRET: 'secret' });
      await expectInboxAndMetrics(server);
      expect(await (await reach(server.page)).text()).toContain('<title>webhook-backpressure</title>');
      await end(server);
    });
  });

  it('is in docs/web.md, for Next.js', async () => {
    const path = 'docs/web.md';
    const project = await Project.create(folder, registry, oldest);
    await timed('Next.js, install', async () => {
      await project.sh(NEXT);
      await project.sh(codeWith('@webhook-backpressure/dashboard', path, 'sh'));
    });
    const source = page(path).source.split('### Next.js with an inbox')[1]?.split('\n### ')[0] ?? '';
    for (const [, block = ''] of source.matchAll(/^```[jt]s\n([^]*?)^```/gm)) {
      const [, file = ''] = /^\/\/ ([^\s,]+)/.exec(block) ?? [];
      await project.sh(`mkdir -p '${dirname(file)}'`);
      await project.write(file, block);
    }
    const variables = { WEBHOOK_SECRET: 'secret', PAGE_PASSWORD: 'password', NEXT_TELEMETRY_DISABLED: '1' };
    const shell = Object.entries(variables).map((variable) => variable.join('='));
    await timed('Next.js, build', () => project.sh(`${shell.join(' ')} npx next build`));
    await expect(project.sh('ls webhooks.db')).rejects.toThrow();

    await timed('Next.js, first delivery and metrics', async () => {
      const port = await freePort();
      const running = project.start('node_modules/next/dist/bin/next', variables, ['start', '--port', port]);
      const url = `http://localhost:${port}`;
      const server = { ...running, url, page: `${url}/backpressure` };
      await expectInboxAndMetrics(server);
      expect((await reach(server.page)).status).toBe(401);
      const headers = { authorization: `Basic ${btoa('operator:password')}` };
      const shown = await (await reach(server.page, { headers })).text();
      // It is killed by endAll: on SIGTERM, Next.js exits with the code 143.
      expect(shown).toContain('<title>webhook-backpressure</title>');
    });
  });
});
