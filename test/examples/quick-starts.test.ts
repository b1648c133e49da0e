import { spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { root } from '../../tooling/packages.js';
import { page, tokensOf } from '../docs/pages.ts';
import { built } from './built.ts';

const quickStarts = [
  'README.md',
  ...['express', 'fastify', 'koa', 'hono', 'node', 'web'].map((name) => `packages/${name}/README.md`),
];
/** They answer malformed JSON with 400, since senders retry after a 500. */
const answersMalformed = ['README.md', 'packages/fastify/README.md'];

let child: ChildProcess | undefined;

// The programs import the built packages, as users do. This is quick if they are up to date.
beforeAll(built, 120_000);

afterEach(() => child?.kill('SIGKILL'));

describe.each(quickStarts)('the first program in %s', (path) => {
  it('processes a delivery when it is pasted and run, and ends on SIGTERM', async () => {
    const port = await freePort();
    const { process: started, output } = startProgram(path, port);
    const send = (): Promise<Response> =>
      fetch(`http://localhost:${String(port)}/webhooks`, {
        method: 'POST',
        body: '{"type":"order.created"}',
        // As `curl -d` sends it, and some senders do.
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    const answer = await vi.waitFor(send, { timeout: 20_000, interval: 100 });
    expect(answer.status).toBe(204);
    if (answersMalformed.includes(path)) {
      for (const body of ['{"type":', '']) {
        const malformed = await fetch(`http://localhost:${String(port)}/webhooks`, { method: 'POST', body });
        expect(malformed.status).toBe(400);
      }
    }

    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(await output).toContain('order.created');
  }, 30_000);
});

describe('the inbox in the README', () => {
  it('refuses a wrong signature and says so, and processes a signed delivery', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'readme-inbox-'));
    const port = await freePort();
    const file = join(folder, 'webhooks.db');
    const { process: started, output, errors } = startProgram('README.md', port, 'webhookInbox', file);
    const processed = new Promise<void>((resolve) => {
      started.stdout?.on('data', (lines) => {
        if (String(lines).includes('processed')) resolve();
      });
    });
    const body = '{"type":"order.created"}';
    const send = (signature: string): Promise<Response> =>
      fetch(`http://localhost:${String(port)}/webhooks`, {
        method: 'POST',
        body,
        headers: { 'x-hub-signature-256': `sha256=${signature}` },
      });
    const wrong = await vi.waitFor(() => send('00'), { timeout: 20_000, interval: 100 });
    expect(wrong.status).toBe(401);
    const signed = await send(createHmac('sha256', 'secret').update(body).digest('hex'));
    expect(signed.status).toBe(200);
    await processed;
    const ended = once(started, 'exit');
    started.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(await output).toMatch(/^listening on port \d+\n[^]*processed { type: 'order.created' }/);
    expect(await errors).toContain('signature');
    rmSync(folder, { recursive: true });
  }, 30_000);
});

describe('the first program in packages/core/README.md', () => {
  it('admits a delivery when it is pasted and run', async () => {
    const { output } = startProgram('packages/core/README.md');
    expect(await output).toBe('process the delivery; it was queued for 0 ms\n');
  }, 30_000);
});

interface Program {
  readonly process: ChildProcess;
  readonly output: Promise<string>;
  readonly errors: Promise<string>;
}

/**
 * Runs the first program of a page as a module.
 *
 * @param words - that it contains.
 * @param file - in place of `./webhooks.db`.
 */
function startProgram(path: string, port = 0, words = '', file = ''): Program {
  const programs = tokensOf('code', page(path).tokens).filter(({ lang }) => lang === 'js');
  const program = programs.find((block) => block.text.includes(words))?.text ?? '';
  const code = program
    .replaceAll('3000', String(port))
    .replace("'./webhooks.db'", () => JSON.stringify(file));
  const started = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    // The folder of a package that depends on all frameworks.
    cwd: join(root, 'examples'),
    env: { ...process.env, WEBHOOK_SECRET: 'secret' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  return { process: started, output: text(started.stdout), errors: text(started.stderr) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
