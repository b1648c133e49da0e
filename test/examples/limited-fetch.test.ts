import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { built } from './built.ts';

// The examples import the built packages, as users do. This is quick if they are up to date.
beforeAll(built, 120_000);

it('processes a delivery whose calls the API refuses at first: in place, and after a longer wait by another attempt', async () => {
  const calls: string[] = [];
  const waits = ['1', '6'];
  const api = createServer((req, res) => {
    void text(req).then((body) => {
      calls.push(`${String(req.method)} ${String(req.url)} ${body}`);
      const wait = waits.shift();
      res.writeHead(wait === undefined ? 201 : 429, wait === undefined ? {} : { 'retry-after': wait }).end();
    });
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'limited-fetch-example-'));
  const child = spawn(process.execPath, ['examples/patterns/limited-fetch.js'], {
    cwd: root,
    env: {
      ...process.env,
      PORT: '0',
      DATABASE: join(folder, 'webhooks.db'),
      API: `http://127.0.0.1:${String((api.address() as AddressInfo).port)}/`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    const [url] = (await once(lines, 'line')) as [string];
    const done = once(lines, 'line');
    const headers = { 'webhook-id': 'a' };
    expect((await fetch(url, { method: 'POST', body: '{"order":42}', headers })).status).toBe(200);
    expect((await done)[0]).toBe('attempt 2 at a is done');
    expect(calls).toEqual(new Array(3).fill('POST /orders {"order":42}'));
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    api.closeAllConnections();
    api.close();
    rmSync(folder, { recursive: true });
  }
}, 30_000);
