import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { PageState } from '@webhook-backpressure/dashboard';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { built } from '../examples/built.ts';
import { isLong } from '../long.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

type Demo = ChildProcessByStdio<null, Readable, Readable>;

let demo: Demo | undefined;

const widest = (output: string): number => Math.max(...output.split('\n').map((line) => line.length));

// The demo starts its processes from the build.
beforeAll(built, 120_000);

afterEach(() => demo?.kill('SIGKILL'));

function start(...args: string[]): Demo {
  demo = spawn(process.execPath, ['demo/dist/main.js', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return demo;
}

it.each([
  ['--help', 0, /^Shows the packages /, /^$/],
  ['--watc', 2, /^$/, /^Unknown option "--watc"\. Did you mean "--watch"\? Try --help\.\n$/],
])('answers %s without a run', async (option, code, stdout, stderr) => {
  const started = start(option);
  const closed = once(started, 'close');
  const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr)]);
  expect(output).toMatch(stdout);
  expect(errors).toMatch(stderr);
  expect(await closed).toEqual([code, null]);
  expect(widest(output)).toBeLessThanOrEqual(80);
});

it('delivers a small import with and without the middleware, and reports it in 80 columns', async () => {
  const started = start('--deliveries', '40');
  const closed = once(started, 'close');
  const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr)]);
  expect(errors).toBe('');
  expect(await closed).toEqual([0, null]);
  expect(output).toMatch(/^Live page while this runs: http:\/\/127\.0\.0\.1:\d+\/backpressure\/$/m);
  expect(output).toMatch(/^with +0 s {2}queued \d+ {2}delivered \d+ /m);
  expect(output).toMatch(/^lost .* 0 +0$/m);
  expect(output).toMatch(/^errors .* 0 +0$/m);
  expect(output).toMatch(/^delivered +40 of 40 +40 of 40$/m);
  expect(widest(output)).toBeLessThanOrEqual(80);
  expect(output).not.toContain('\x1b');
}, 60_000);

it('kills a receiver with an inbox twice, and loses no delivery', async () => {
  const started = start('--inbox', '--deliveries', '40');
  const closed = once(started, 'close');
  const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr)]);
  expect(errors).toBe('');
  expect(await closed).toEqual([0, null]);
  expect(output.match(/^killed .* acknowledged and not processed; restarted in \d+ ms$/gm)).toHaveLength(2);
  expect(output).toMatch(/^acknowledged +40 of 40$/m);
  expect(output).toMatch(/^processed +40$/m);
  expect(widest(output)).toBeLessThanOrEqual(80);
}, 60_000);

it.runIf(isLong)(
  'kills a receiver, a worker and their database, and loses no delivery',
  async () => {
    const started = start('--fleet', '--deliveries', '120');
    const closed = once(started, 'close');
    const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr)]);
    expect(errors).toBe('');
    expect(await closed).toEqual([0, null]);
    expect(output.match(/^killed .* (receiver 2|worker 2|the database)$/gm)).toHaveLength(3);
    expect(output.match(/^back .* after [\d.]+ s$/gm)).toHaveLength(3);
    expect(output).toMatch(/^acknowledged +120 of 120$/m);
    expect(output).toMatch(/^completed +120$/m);
    expect(output).toMatch(/^lost +0$/m);
    expect(widest(output)).toBeLessThanOrEqual(80);
  },
  120_000,
);

it.runIf(isLong)(
  'sends to a fast, a limited and a hanging receiver, and loses no event',
  async () => {
    const started = start('--sender', '--deliveries', '100');
    const closed = once(started, 'close');
    const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr)]);
    expect(errors).toBe('');
    expect(await closed).toEqual([0, null]);
    expect(output).toMatch(/^events +90 +8 +2$/m);
    expect(output).toMatch(/^in the receiver +90 +8 +0$/m);
    expect(output).toMatch(/^still in the outbox +0 +0 +2$/m);
    expect(widest(output)).toBeLessThanOrEqual(80);
  },
  60_000,
);

it('ends its children when it is interrupted', async () => {
  const started = start();
  await new Promise<void>((resolve) => {
    // The first line of progress comes from the receiver, so both children are running.
    createInterface({ input: started.stdout }).on('line', (line) => {
      if (line.includes('queued')) resolve();
    });
  });
  // The children hold this pipe as well: it closes when the last of them has ended.
  const closed = once(started, 'close');
  started.kill('SIGINT');
  started.stderr.resume();
  expect(await closed).toEqual([130, null]);
}, 60_000);

it('serves the live page with --watch, sends load, and ends cleanly when it is interrupted', async () => {
  const started = start('--watch');
  const errors = text(started.stderr);
  const closed = once(started, 'close');
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: started.stdout }).on('line', (line) => {
      if (line.trim().startsWith('http://127.0.0.1:')) resolve(line.trim());
    });
  });
  const page = await fetch(url);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const completed = async (): Promise<number[]> => {
    const state = (await (await fetch(new URL('state', url))).json()) as PageState;
    const sources = [...Object.values(state.intakes), ...Object.values(state.inboxes)];
    return sources.map(({ snapshot }) => snapshot.totals.completed);
  };
  await expect
    .poll(async () => Math.min(...(await completed())), { timeout: 30_000, interval: 200 })
    .toBeGreaterThan(0);
  expect(await completed()).toHaveLength(2);

  // A terminal sends the signal to npm and to the demo, and npm passes it on.
  started.kill('SIGINT');
  started.kill('SIGINT');
  expect(await closed).toEqual([0, null]);
  expect(await errors).toBe('');
}, 60_000);

it('says so if the port of --watch is in use', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const started = start('--watch', '--port', String(port));
  const closed = once(started, 'close');
  started.stdout.resume();
  expect(await text(started.stderr)).toContain(
    `EADDRINUSE: address already in use 127.0.0.1:${String(port)}`,
  );
  expect(await closed).toEqual([1, null]);
  server.close();
}, 60_000);
