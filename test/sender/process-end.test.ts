import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const program = join(import.meta.dirname, 'children', 'ending.js');
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Answers the n-th request with the n-th answer, and keeps no connection. */
function receiver(answers: readonly Record<string, string>[]): Promise<string> {
  let count = 0;
  const listening = (server = createServer((request, response) => {
    const headers = answers[count] ?? {};
    count += 1;
    request.resume();
    const status = 'retry-after' in headers ? 429 : 204;
    response.writeHead(status, { ...headers, connection: 'close' }).end();
  }));
  return new Promise((resolve) => {
    listening.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${String((listening.address() as AddressInfo).port)}/`);
    });
  });
}

/** Runs the program until it exits by itself; otherwise the test times out. */
function run(url: string): Promise<{ code: unknown; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, url], (error, out, err) => {
      resolve({ code: error === null ? 0 : error.code, out, err });
    });
  });
}

describe('a program that sends and closes', () => {
  it('exits by itself after close', async () => {
    const { code, out, err } = await run(await receiver([]));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^stored\n\{"completed":[01],"remaining":0\}\n$/);
  });

  it('stays alive while send waits for room and no request is in flight', async () => {
    const { code, out, err } = await run(await receiver([{ 'retry-after': '2' }]));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^stored\n/);
  });
});
