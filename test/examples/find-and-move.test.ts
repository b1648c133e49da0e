import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { built } from './built.ts';
import { run } from './run.ts';

// The programs import the built packages, as users do.
beforeAll(built, 120_000);

const pattern = (name: string, variables: NodeJS.ProcessEnv = {}): Promise<string> =>
  run(process.execPath, [`examples/patterns/${name}`], root, { ...process.env, ...variables });

describe('patterns/redrive-by-filter.js', () => {
  it('redrives what failed with one error, and leaves the others', async () => {
    const lines = (await pattern('redrive-by-filter.js')).trim().split('\n');
    expect(lines).toContain('2 would be redriven: a, c');
    expect(lines).toContain('2 redriven');
    expect(lines.filter((line) => line.startsWith('processed')).sort()).toEqual([
      'processed a',
      'processed c',
    ]);
  }, 30_000);
});

describe('patterns/notify.js', () => {
  it('prints a notice, or sends it to a URL', async () => {
    const sentence = 'orders: 2 deliveries became dead letters: github 2.';
    expect((await pattern('notify.js')).trim().split('\n')).toContain(sentence);
    const received: string[] = [];
    const server = createServer((req, res) => {
      void text(req).then((body) => {
        received.push(body);
        res.writeHead(204).end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await pattern('notify.js', { NOTICE_URL: `http://127.0.0.1:${String(port)}/` });
    const notices = received.map((body) => JSON.parse(body) as { data: { text: string } });
    expect(notices.map(({ data }) => data.text).join('\n')).toContain(sentence);
    server.close();
  }, 30_000);
});
