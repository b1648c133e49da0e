import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { built } from './built.ts';

let child: ChildProcess | undefined;
let folder: string;

beforeAll(built, 120_000);

afterEach(async () => {
  if (child?.exitCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  rmSync(folder, { recursive: true });
});

/** Starts a program. Returns functions that send it a delivery, and that wait until it has printed so many lines. */
async function start(name: string) {
  folder = mkdtempSync(join(tmpdir(), 'pattern-'));
  const started = spawn(process.execPath, [`examples/patterns/${name}.js`], {
    cwd: root,
    env: { ...process.env, PORT: '0', DATABASE: join(folder, 'webhooks.db') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  const lines = createInterface({ input: started.stdout });
  const [url] = (await once(lines, 'line')) as [string];
  const printed: string[] = [];
  lines.on('line', (line) => printed.push(line));
  return {
    send: async (id: string, body: string, headers: Record<string, string> = {}): Promise<void> => {
      const answer = await fetch(url, { method: 'POST', body, headers: { 'webhook-id': id, ...headers } });
      expect([200, 202]).toContain(answer.status);
    },
    printed: async (count: number): Promise<string[]> => {
      while (printed.length < count) await once(lines, 'line');
      return printed;
    },
  };
}

describe('the program', () => {
  it('batches.js inserts deliveries together, and repeats one that failed alone', async () => {
    const { send, printed } = await start('batches');
    await Promise.all(['1', '2', '{', '3'].map((body, at) => send(String(at), body)));
    expect(await printed(1)).toEqual(['inserted 3 of 4']);
  }, 60_000);

  it('newest-of-a-group.js processes the newest update of a product', async () => {
    const { send, printed } = await start('newest-of-a-group');
    await send('first', '{"product":"other"}');
    await printed(1);
    for (const at of [1, 2, 3]) await send(`a${String(at)}`, `{"product":"a","n":${String(at)}}`);
    expect((await printed(4)).sort()).toEqual([
      'skipped a1',
      'skipped a2',
      'updating {"product":"a","n":3}',
      'updating {"product":"other"}',
    ]);
  }, 60_000);

  it('later.js processes a delivery at its time', async () => {
    const { send, printed } = await start('later');
    const remindAt = new Date(Date.now() + 1500).toISOString();
    await send('later', JSON.stringify({ remindAt }));
    await send('now', '{}');
    const [now, later] = (await printed(2)) as [string, string];
    expect(now.endsWith(' {}')).toBe(true);
    expect(later.endsWith(remindAt + '"}')).toBe(true);
    expect(Date.parse(later.split(' ')[0] ?? '')).toBeGreaterThanOrEqual(Date.parse(remindAt));
  }, 60_000);

  it('time-to-live.js processes deliveries in time', async () => {
    const { send, printed } = await start('time-to-live');
    await send('code', '{"type":"login.code"}');
    expect(await printed(1)).toEqual(['processed {"type":"login.code"}']);
  }, 60_000);

  it('several-handlers.js repeats only the handler that failed', async () => {
    const { send, printed } = await start('several-handlers');
    await send('a', '{}', { 'x-github-event': 'push', 'x-github-delivery': 'a' });
    expect((await printed(3)).sort()).toEqual(['audit a/*', 'deploy a/github:push', 'notify a/notify']);
  }, 60_000);
});
