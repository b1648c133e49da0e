import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fire, type Report } from '@webhook-backpressure/fire';
import { runCli } from '../../packages/fire/src/cli/run-cli.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(
  line: string,
  signal = new AbortController().signal,
  progress?: (line: string) => void,
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCli(
    line.split(' ').filter((word) => word !== ''),
    {
      out: (text) => (out += `${text}\n`),
      err: (text) => (err += `${text}\n`),
      progress,
      columns: 100,
      version: '1.2.3',
      signal,
      seed: 1,
    },
  );
  return { code, out, err };
}

const SOUND = 'http://127.0.0.1:9/ --as stripe --burst 5/1s';

/** Ten misuses of the command, and more, with the line that it prints. */
const MISUSES: readonly (readonly [line: string, printed: string])[] = [
  ['--as stripe --burst 5/1s', 'The URL of the endpoint is missing.'],
  ['hooks --as stripe --burst 5/1s', 'The URL must be absolute, but was "hooks".'],
  ['ftp://127.0.0.1/ --as stripe --burst 5/1s', 'The URL must be http or https, but was ftp://….'],
  ['http://me:pw@127.0.0.1/ --as stripe --burst 5/1s', 'The URL must have no user or password.'],
  [
    'http://127.0.0.1:9/ --burst 5/1s',
    '--as is missing: names of senders with shares, such as --as stripe:0.5,github:0.5.',
  ],
  ['http://127.0.0.1:9/ --as stipe --burst 5/1s', 'Unknown sender "stipe". Did you mean "stripe"?'],
  [
    'http://127.0.0.1:9/ --as stripe,stripe --burst 5/1s',
    'senders must have different names, but stripe is repeated.',
  ],
  [
    'http://127.0.0.1:9/ --as stripe',
    '--burst or --normal is missing: what is sent, such as --burst 2000/5s --normal 5/s.',
  ],
  [
    'http://127.0.0.1:9/ --as stripe --burst 0/1s',
    '--burst must be an integer from 1 to 2000000, but was "0/1s".',
  ],
  [
    'http://127.0.0.1:9/ --as stripe --normal 5/s',
    '--for is missing: how long --normal is sent, such as --for 1min.',
  ],
  [`${SOUND} --speed 1e9`, '--speed must be a number from 1 to 1000000, but was "1e9".'],
  [`${SOUND} --speed 0`, '--speed must be a number from 1 to 1000000, but was "0".'],
  [`${SOUND} --max-lost some`, '--max-lost must be an integer, but was "some".'],
  [`${SOUND} --concurrency 3`, '--concurrency needs --service: both are for the prediction.'],
  [`${SOUND} http://127.0.0.1:8/`, 'There must be one URL, but also "http://127.0.0.1:8/" was given.'],
  [`${SOUND} --burts 5/1s`, 'Unknown option "--burts". Did you mean "--burst"?'],
  [`${SOUND} --burst 6/1s`, '--burst must be given once.'],
  [`${SOUND} --secret= `, '--secret must not be blank. Has the variable a value?'],
  [
    'http://8.8.8.8/ --as stripe --burst 5/1s',
    '8.8.8.8 is neither of this machine nor of a private network. If it is yours, add --i-own 8.8.8.8.',
  ],
  [
    'http://[2001:4860:4860::8888]/ --as stripe --burst 5/1s',
    '2001:4860:4860::8888 is neither of this machine nor of a private network. If it is yours, add --i-own 2001:4860:4860::8888.',
  ],
  [`${SOUND} --i-own 8.8.8.8`, '--i-own must be the host of the URL, 127.0.0.1, but was "8.8.8.8".'],
  [
    'http://8.8.8.8/ --as stripe --burst 5000/1s --i-own 8.8.8.8',
    '--i-own allows 100000 deliveries and 1000 a second, but these are 5000 and 5000 a second.',
  ],
  ['--listen --as stripe', '--listen cannot be combined with --as.'],
  ['--listen 70000', '--listen must be a port from 0 to 65535, but was "70000".'],
];

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-fire-'));
const servers: Server[] = [];

afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true });
});

/** An endpoint that answers the status. */
async function endpoint(status: (n: number) => number): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers['user-agent']));
    request.resume().on('end', () => {
      response.writeHead(status(seen.length)).end();
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hooks`, seen };
}

describe('the command of fire', () => {
  it.each(MISUSES)('rejects %s', async (line, printed) => {
    expect(await run(line)).toEqual({ code: 2, out: '', err: `${printed}\n` });
  });

  it('prints a table, the answers and what each sender has concluded', async () => {
    const { url, seen } = await endpoint(() => 204);
    const { code, out, err } = await run(
      `${url} --as stripe:0.5,github:0.5 --secret s --burst 40/500ms --service 5ms`,
    );
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^40 deliveries to http:\/\/127/);
    expect(out).toMatch(/\nmeasured +40 +0 +0 +40 +\d/);
    expect(out).toMatch(/\n {2}github /);
    expect(out).toMatch(/\npredicted: inbox, defaults +40 +0 +40\n/);
    expect(out).toMatch(
      /\nAnswers: 204 40\nstripe: All were acknowledged\.\ngithub: All were acknowledged\.\n/,
    );
    expect(seen).toHaveLength(40);
    expect(new Set(seen)).toEqual(
      new Set(['GitHub-Hookshot/044aadd', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)']),
    );
  });

  it('prints JSON, writes a JUnit report and exits with 1 if a limit is exceeded', async () => {
    const { url } = await endpoint((n) => (n > 15 ? 500 : 200));
    const junit = join(folder, 'fire.xml');
    const { code, out } = await run(
      `${url} --as github --burst 20/200ms --max-lost 0 --max-p99 1h --json --junit ${junit}`,
    );
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      url,
      delivered: 15,
      lost: 5,
      attempts: 20,
      exceeded: ['5 deliveries were lost and 0 open, but --max-lost is 0.'],
      senders: [
        { name: 'github', lost: 5, disabled: false, signature: 'unsigned: --secret has none for it' },
      ],
    });
    const xml = await readFile(junit, 'utf8');
    expect(xml).toContain('tests="2" failures="1"');
    expect(xml).toContain(
      '<testcase classname="fire" name="--max-lost 0"><failure message="5 deliveries were lost',
    );
    expect(xml).toContain('<testcase classname="fire" name="--max-p99 3600000 ms"/>');
  });

  it('is a function too', async () => {
    const { url } = await endpoint(() => 200);
    const report: Report = await fire([url, '--as', 'svix', '--burst', '3/100ms']);
    expect(report).toMatchObject({ delivered: 3, lost: 0, attempts: 3, predicted: null });
    await expect(fire([url])).rejects.toMatchObject({ code: 'ERR_WBP_FIRE' });
    await expect(fire(['--help'])).rejects.toMatchObject({ code: 'ERR_WBP_FIRE' });
  });

  it('ends with 130 and the report so far when it is interrupted', async () => {
    const interrupted = new AbortController();
    const { url } = await endpoint((n) => {
      if (n === 5) interrupted.abort();
      return 200;
    });
    const { code, out } = await run(`${url} --as stripe --normal 50/s --for 1h --json`, interrupted.signal);
    expect(code).toBe(130);
    const { events, delivered, open } = JSON.parse(out) as Report;
    expect(events).toBeGreaterThanOrEqual(5);
    expect(delivered + open).toBe(events);
  });

  it('prints help and the version', async () => {
    expect((await run('')).out).toContain('Usage: webhook-backpressure-fire URL --as LIST --burst N/TIME');
    expect((await run('--version')).out).toBe('1.2.3\n');
  });

  it('counts with --listen what comes, and the ids that were seen before', async () => {
    const interrupted = new AbortController();
    let url = '';
    const listening = runCli(['--listen', '--json'], {
      out: (text) => (printed += text),
      err: (text) => (url = /http:\S+\//.exec(text)?.[0] ?? ''),
      progress: undefined,
      columns: 100,
      version: '1',
      signal: interrupted.signal,
      seed: 1,
    });
    let printed = '';
    await expect.poll(() => url).not.toBe('');
    await fire([url, '--as', 'stripe:1,github:1', '--burst', '30/100ms']);
    const again = {
      method: 'POST',
      headers: { 'webhook-id': 'msg_1', 'webhook-signature': 'v1,x' },
      body: '{}',
    };
    for (let n = 0; n < 3; n += 1) await fetch(url, again);
    interrupted.abort();
    expect(await listening).toBe(0);
    const received = JSON.parse(printed) as Record<
      string,
      { requests: number; events: number; repeated: number }
    >;
    expect((received['stripe']?.events ?? 0) + (received['github']?.events ?? 0)).toBe(30);
    expect(received['standard-webhooks']).toMatchObject({ requests: 3, events: 1, repeated: 2 });
  });
});
