import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { FakeGitHub, HOOK } from '../reconcile/fake-github.ts';
import { serve } from '../reconcile/serve.ts';
import { built } from './built.ts';

// The examples import the built packages, as users do. This is quick if they are up to date.
beforeAll(built, 120_000);

it('processes what GitHub could not deliver while it was down, and asks for nothing after a restart', async () => {
  const fake = new FakeGitHub({ wallMs: Date.now });
  const missed = await fake.happen('push', { at: 1 }, 502);
  await fake.happen('push', { at: 2 }, 202);
  const { server, url } = await serve(fake.fetch);
  const folder = mkdtempSync(join(tmpdir(), 'reconcile-example-'));
  const printed: string[][] = [];
  for (let start = 0; start < 2; start += 1) {
    const child = spawn(process.execPath, ['examples/patterns/reconcile.js'], {
      cwd: root,
      env: {
        ...process.env,
        PORT: '0',
        DATABASE: join(folder, 'webhooks.db'),
        GITHUB_API: url,
        GITHUB_HOOK: HOOK,
        GITHUB_TOKEN: fake.token,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        const isDone = (start === 0 ? ['missed', 'process'] : ['missed']).every((word) =>
          lines.some((one) => one.startsWith(word)),
        );
        if (isDone) break;
      }
      printed.push(lines.filter((line) => !line.startsWith('http')).sort());
    } finally {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  expect(printed[0]).toEqual(['missed 1, added 1, requests 2', `process push ${missed.guid}`]);
  // The first process may have been killed before its handler was completed.
  expect(printed[1]).toContain('missed 0, added 0, requests 1');
}, 30_000);
