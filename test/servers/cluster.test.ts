import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { Sender, type Reply } from '../conformance/sender.ts';
import { page, tokensOf } from '../docs/pages.ts';

const DELIVERIES = 12;

/** A program of docs/production.md, with some of its text replaced. */
function program(name: string, replaced: Readonly<Record<string, string>> = {}): string {
  const blocks = tokensOf('code', page('docs/production.md').tokens).map(({ text }) => text);
  let text = blocks.find((one) => one.startsWith(`// ${name}\n`)) ?? '';
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`${name} does not contain ${from}.`);
    text = text.replace(from, to);
  }
  return text;
}

/** The app and the primary of docs/production.md, as processes. */
describe('node:cluster, as docs/production.md runs it', () => {
  let folder: string;
  let sender: Sender;
  let primary: ChildProcess;
  let exit: Promise<unknown[]>;
  let lines: AsyncIterator<string>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wbp-cluster-'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    sender = new Sender(false);
    const app = program('server.mjs', {
      'await new Promise((done) => setTimeout(done, 50));':
        "console.log('handling'); await new Promise((done) => setTimeout(done, process.env.HANDLING_MS));",
      'drainDelayMs: 11_000': 'drainDelayMs: 0',
    });
    writeFileSync(join(folder, 'server.mjs'), app);
  });
  afterEach(async () => {
    sender.destroy();
    primary.kill('SIGKILL');
    await exit;
    rmSync(folder, { recursive: true });
  });

  /** Starts the cluster and sends deliveries. Resolves when all are being handled. */
  async function start(text: string, handlingMs: number): Promise<Promise<Reply | undefined>[]> {
    writeFileSync(join(folder, 'cluster.mjs'), text);
    primary = spawn(process.execPath, ['cluster.mjs'], {
      cwd: folder,
      env: { ...process.env, PORT: '0', HANDLING_MS: String(handlingMs), NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    exit = once(primary, 'exit');
    if (primary.stdout === null) throw new Error('The primary has no output.');
    lines = createInterface(primary.stdout)[Symbol.asyncIterator]();
    await nextLine('listening');
    const port = Number(/port: (\d+)/.exec(await nextLine('listening'))?.[1]);
    const replies = Array.from({ length: DELIVERIES }, () =>
      sender.send(port, { path: '/webhooks' }).reply.catch(() => undefined),
    );
    for (let count = 0; count < DELIVERIES; count += 1) await nextLine('handling');
    return replies;
  }

  async function nextLine(beginning: string): Promise<string> {
    for (;;) {
      const line = await lines.next();
      if (line.done === true) throw new Error('The process has ended.');
      if (line.value.startsWith(beginning)) return line.value;
    }
  }

  it('handles what it has accepted when the primary gets SIGTERM', async () => {
    const replies = await start(program('cluster.mjs'), 300);
    primary.kill('SIGTERM');
    const statuses = (await Promise.all(replies)).map((reply) => reply?.status);
    expect(statuses).toEqual(Array.from(statuses, () => 204));
    expect(await exit).toEqual([0, null]);
  });

  it('cuts deliveries off when the primary ends by SIGTERM before its workers', async () => {
    const replies = await start(
      program('cluster.mjs', { "process.on('SIGTERM'": "process.on('SIGUSR2'" }),
      20_000,
    );
    primary.kill('SIGTERM');
    expect(await Promise.all(replies)).toEqual(Array.from(replies, () => undefined));
    expect(await exit).toEqual([null, 'SIGTERM']);
  });
});
