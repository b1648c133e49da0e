import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { root } from '../../tooling/packages.js';
import { page, tokensOf } from '../docs/pages.ts';
import { run } from '../packaging/run.ts';

const SERVERS = [
  'README.md',
  ...['express', 'koa', 'hono', 'node'].map((name) => `packages/${name}/README.md`),
];

let child: ChildProcess | undefined;

// The programs import the built packages.
beforeAll(() => run('npx', ['tsc', '-b', 'examples'], root), 120_000);

afterEach(() => child?.kill('SIGKILL'));

/** Runs the first program of a page as a module. */
function start(path: string, port = 0): { process: ChildProcess; output: Promise<string> } {
  const [program] = tokensOf('code', page(path).tokens).filter(({ lang }) => lang === 'js');
  const code = program?.text.replaceAll('3000', String(port)) ?? '';
  const started = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    // The folder of a package that depends on all frameworks.
    cwd: join(root, 'examples'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  return { process: started, output: text(started.stdout) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe.each(SERVERS)('the first program in %s', (path) => {
  it('processes a delivery when it is pasted and run, and ends on SIGTERM', async () => {
    const port = await freePort();
    const { process: started, output } = start(path, port);
    const send = (): Promise<Response> =>
      fetch(`http://localhost:${String(port)}/webhooks`, {
        method: 'POST',
        body: '{"type":"order.created"}',
      });
    const answer = await vi.waitFor(send, { timeout: 20_000, interval: 100 });
    expect(answer.status).toBe(204);

    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(await output).toContain('order.created');
  }, 30_000);
});

describe('the first program in packages/core/README.md', () => {
  it('admits a delivery when it is pasted and run', async () => {
    const { output } = start('packages/core/README.md');
    expect(await output).toBe('process the delivery; it was queued for 0 ms\n');
  }, 30_000);
});
