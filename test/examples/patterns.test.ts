import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { isSkipped, PostgresBed } from '../postgres/bed.ts';
import { built } from './built.ts';

// The examples import the built packages, as users do.
beforeAll(built, 120_000);

describe.skipIf(isSkipped)('patterns/one-transaction.js', () => {
  const bed = new PostgresBed();
  const database = `patterns_${String(process.pid)}`;
  const url = new URL(bed.connectionString);
  url.pathname = `/${database}`;
  const bodies: string[] = [];
  const endpoint = createServer((req, res) => {
    void text(req).then((body) => {
      bodies.push(body);
      res.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');

  beforeAll(() => bed.pool.query(`CREATE DATABASE ${database}`));
  afterAll(async () => {
    endpoint.close();
    await bed.pool.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await bed.dispose();
  });

  it('commits the payment, the completion and the webhook together', async () => {
    if (!endpoint.listening) await once(endpoint, 'listening');
    const { port } = endpoint.address() as AddressInfo;
    const program = spawn(process.execPath, ['examples/patterns/one-transaction.js'], {
      cwd: root,
      env: {
        ...process.env,
        DATABASE_URL: url.href,
        ENDPOINT: `http://127.0.0.1:${String(port)}/webhooks`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(program, 'exit');
    const printed = await text(program.stdout);
    expect(await ended).toEqual([0, null]);
    expect(printed).toContain('completed');
    expect(printed).toContain("delivered [ { id: 'payment-1', amount: 42 } ]");
    expect(bodies).toEqual([expect.stringContaining('"type":"payment.received"')]);
  }, 60_000);
});
