import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { built } from './built.ts';
import { isSkipped, PostgresBed } from '../postgres/bed.ts';

const children: ChildProcess[] = [];

// The examples import the built packages, as users do.
beforeAll(built, 120_000);
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

describe.skipIf(isSkipped)('receivers and workers on PostgreSQL', () => {
  const bed = new PostgresBed();
  const database = `examples_${String(process.pid)}`;
  const url = new URL(bed.connectionString);
  url.pathname = `/${database}`;
  const variables = { DATABASE_URL: url.href, PORT: '0', RUN_MS: '3000' };

  beforeAll(() => bed.pool.query(`CREATE DATABASE ${database}`));
  afterAll(async () => {
    await bed.pool.query(`DROP DATABASE ${database} WITH (FORCE)`);
    await bed.dispose();
  });

  function start(...args: readonly string[]): { child: ChildProcess; lines: Interface } {
    const child = spawn(process.execPath, args, {
      cwd: `${root}/examples`,
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return { child, lines: createInterface({ input: child.stdout }) };
  }

  async function nextLine({ lines }: { lines: Interface }): Promise<string> {
    const [line] = (await once(lines, 'line')) as [string];
    return line;
  }

  it('handle in one process what another one has acknowledged, and both end on SIGTERM', async () => {
    const [receiver, worker] = [start('receiver.js'), start('worker.js')];
    const [address] = await Promise.all([nextLine(receiver), nextLine(worker)]);
    const handled = nextLine(worker);
    // Its store may still be opening.
    const answer = await fetch(address, {
      method: 'POST',
      body: '{"type":"order.created"}',
      headers: { 'webhook-id': 'a' },
    });
    expect(await answer.json()).toEqual({ id: 'a', status: 'accepted' });
    expect(await handled).toBe('attempt 1 at a: {"type":"order.created"}');
    for (const { child } of [receiver, worker]) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await ended).toEqual([null, 'SIGTERM']);
    }
  }, 60_000);

  it('handle in a scheduled function what another function has acknowledged', async () => {
    const vercel = `const { POST } = await import('./function-receiver.js');
      const request = (id) => new Request('https://shop.example/hooks?a=1', { method: 'POST', body: '{}', headers: { 'webhook-id': id } });
      console.log((await POST(request('b'))).status);`;
    const lambda = `const { handler } = await import('./function-receiver.js');
      const event = { rawPath: '/hooks', rawQueryString: '', headers: { 'webhook-id': 'c' }, body: 'e30=', isBase64Encoded: true, requestContext: { http: { method: 'POST' } } };
      console.log(JSON.stringify(await handler(event)));
      process.exit();`;
    const receiver = start('--input-type=module', '--eval', `${vercel}\n${lambda}`);
    const lines = receiver.lines[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('200');
    expect(JSON.parse(String((await lines.next()).value))).toMatchObject({
      statusCode: 200,
      body: '{"id":"c","status":"accepted"}',
    });

    const worker = start(
      '--input-type=module',
      '--eval',
      `const { handler } = await import('./function-worker.js'); console.log(JSON.stringify(await handler()));`,
    );
    const printed: string[] = [];
    for await (const line of worker.lines) printed.push(line);
    expect(printed.slice(0, -1).sort()).toEqual(['attempt 1 at b: {}', 'attempt 1 at c: {}']);
    expect(JSON.parse(printed.at(-1) ?? '')).toMatchObject({ remaining: 0 });
  }, 60_000);
});
