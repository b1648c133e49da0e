import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '@webhook-backpressure/base';
import { parseCommand } from '../../packages/fire/src/cli/arguments.ts';
import { fireAt, type Surroundings } from '../../packages/fire/src/cli/fire.ts';
import type { Report } from '../../packages/fire/src/report/report.ts';
import { checkedUrl, isNear } from '../../packages/fire/src/requests/addresses.ts';

/** A hundred times as fast, so that timeouts of seconds pass in a test. */
const FAST: Surroundings['clock'] = {
  now: () => systemClock.now() * 100,
  setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms / 100),
  clearTimeout: (handle) => {
    systemClock.clearTimeout(handle);
  },
};

const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** An endpoint that reacts to each request, which may be the second one on its connection. */
async function endpoint(react: (socket: Socket, n: number) => void): Promise<string> {
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (;;) {
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (end === -1 || text.length < end + 4 + length) return;
        text = text.slice(end + 4 + length);
        react(socket, (requests += 1));
      }
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

async function run(url: string, line: string, surroundings: Partial<Surroundings> = {}): Promise<Report> {
  const command = parseCommand([url, ...line.split(' ')], 1);
  if (command.name !== 'fire') throw new Error('The command does not fire.');
  const [report] = await fireAt(command, { signal: new AbortController().signal, ...surroundings });
  return report;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

describe('fire at a bad endpoint', () => {
  it('ends each attempt at the timeout of the sender if it hangs', async () => {
    const url = await endpoint(() => undefined);
    const report = await run(url, '--as github --burst 20/1s', { clock: FAST });
    expect(report).toMatchObject({ lost: 20, attempts: 20, answers: { timeout: 20 } });
  });

  it('ends it as well if the head of the answer comes byte by byte', async () => {
    const url = await endpoint((socket) => {
      const bytes = Array.from(OK);
      const timer = setInterval(() => socket.write(bytes.shift() ?? ' '), 50);
      socket.on('close', () => {
        clearInterval(timer);
      });
    });
    const report = await run(url, '--as github --burst 3/1s', { clock: FAST });
    expect(report).toMatchObject({ lost: 3, attempts: 3, answers: { timeout: 3 } });
  });

  it('notes a reset connection, and retries as the sender does', async () => {
    const url = await endpoint((socket, n) => {
      if (n < 4) socket.resetAndDestroy();
      else socket.write(OK);
    });
    const report = await run(url, '--as svix --burst 1/1s --speed 1000000');
    expect(report).toMatchObject({ delivered: 1, attempts: 4, answers: { 200: 1, connection: 3 } });
    expect(report.failures['connection']).toMatch(/^The connection failed: /);
  });

  it('does not read an endless body', async () => {
    let sent = 0;
    const url = await endpoint((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n`);
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.byteLength;
      };
      socket.on('drain', more);
      more();
    });
    const report = await run(url, '--as github --burst 2/1s --speed 1000');
    expect(report).toMatchObject({ delivered: 2, answers: { 200: 2 } });
    expect(sent).toBeLessThan(50_000_000);
  });

  it('does not follow redirects', async () => {
    let others = 0;
    const other = await endpoint((socket) => {
      others += 1;
      socket.write(OK);
    });
    const url = await endpoint((socket) =>
      socket.write(`HTTP/1.1 307 Temporary Redirect\r\nLocation: ${other}\r\nContent-Length: 0\r\n\r\n`),
    );
    expect(await run(url, '--as github --burst 2/1s --speed 1000')).toMatchObject({
      lost: 2,
      answers: { 307: 2 },
    });
    expect(others).toBe(0);
  });

  it('continues on new connections if kept ones are closed', async () => {
    const url = await endpoint((socket) => {
      socket.end(OK);
    });
    const report = await run(url, '--as stripe --burst 200/1s --speed 1000');
    expect(report).toMatchObject({ delivered: 200, lost: 0 });
  });

  it('names what is no HTTP', async () => {
    const url = await endpoint((socket) => socket.write('hello\r\n\r\n'));
    expect(await run(url, '--as github --burst 1/1s')).toMatchObject({ lost: 1, answers: { invalid: 1 } });
  });

  it('notes that nothing listens', async () => {
    const report = await run('http://127.0.0.1:1/', '--as github --burst 3/1s --speed 1000');
    expect(report).toMatchObject({ lost: 3, answers: { connection: 3 } });
    expect(report.failures['connection']).toContain('ECONNREFUSED');
  });

  it('sends over IPv6', async () => {
    const server = createServer((socket) => socket.on('data', () => socket.write(OK)));
    servers.push(server);
    server.listen(0, '::1');
    await once(server, 'listening');
    const url = `http://[::1]:${String((server.address() as AddressInfo).port)}/`;
    expect(await run(url, '--as svix --burst 1/1s')).toMatchObject({ delivered: 1 });
  });

  it('connects to no public address, also if the name had a private one before', async () => {
    const rebinds = run('http://localhost.example:9/', '--as github --burst 1/1s', {
      resolve: () => Promise.resolve(['127.0.0.1']),
    });
    // It is checked by the name again, which does not exist: nothing is sent.
    expect(await rebinds).toMatchObject({ lost: 1, answers: { connection: 1 } });
    const far = checkedUrl('http://shop.example/', undefined, () =>
      Promise.resolve(['10.0.0.1', '93.184.216.34']),
    );
    await expect(far).rejects.toThrow(
      'shop.example has the address 93.184.216.34, which is neither of this machine nor of a private network.',
    );
  });
});

describe('the addresses that fire sends to freely', () => {
  it.each([
    ...['127.0.0.1', '127.9.9.9', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1'],
    ...['::1', 'fd00::1', '::ffff:127.0.0.1'],
  ])('include %s', (address) => {
    expect(isNear(address)).toBe(true);
  });

  it.each([
    ...['8.8.8.8', '172.32.0.1', '169.254.169.254', '0.0.0.0', '224.0.0.1', '100.128.0.1'],
    ...['2606:4700::1111', '::ffff:8.8.8.8', 'fe80::1', '::', 'shop.example'],
  ])('do not include %s', (address) => {
    expect(isNear(address)).toBe(false);
  });
});
