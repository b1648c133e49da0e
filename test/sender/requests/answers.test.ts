import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { rawServer } from './raw-server.ts';
import { bothRequesters, OK, request, requester, textOf } from './requester-bed.ts';

describe.each(bothRequesters)('a request by %s', (_, make) => {
  it('has the method, path, headers and body', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const answer = await make().send(request(server.port));
    expect(answer.status).toBe(200);
    expect(textOf(answer)).toBe('ok');
    const [sent = ''] = server.received;
    expect(sent).toMatch(/^POST \/hooks\?a=1 HTTP\/1\.1\r\n/);
    expect(sent).toMatch(/\r\ncontent-type: application\/json\r\n/i);
    expect(sent).toMatch(/\r\ncontent-length: 7\r\n/i);
    expect(sent).toMatch(/\{"a":1\}$/);
  });

  it('with OPTIONS has no body', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const answer = await make().send(
      request(server.port, { method: 'OPTIONS', body: new Uint8Array(), headers: { 'x-a': 'b' } }),
    );
    expect(answer.status).toBe(200);
    const [sent = ''] = server.received;
    expect(sent).toMatch(/^OPTIONS \/hooks\?a=1 HTTP\/1\.1\r\n/);
    expect(sent).toMatch(/\r\nx-a: b\r\n/i);
    expect(sent).toMatch(/\r\n\r\n$/);
    expect(sent).not.toMatch(/transfer-encoding/i);
  });

  it('gives the headers by their names in lower case', async () => {
    const head = 'HTTP/1.1 429 Slow\r\nRetry-After: 5\r\nX-Two: a\r\nX-Two: b\r\nContent-Length: 0\r\n\r\n';
    const server = await rawServer((socket) => socket.write(head));
    const { status, header, body } = await make().send(request(server.port));
    expect(status).toBe(429);
    expect(header('retry-after')).toBe('5');
    expect(header('x-two')).toBe('a, b');
    expect(header('constructor')).toBeUndefined();
    expect(header('__proto__')).toBeUndefined();
    expect(body).toHaveLength(0);
  });

  it('does not follow redirects', async () => {
    const target = await rawServer((socket) => socket.write(OK));
    const location = `http://127.0.0.1:${String(target.port)}/`;
    const server = await rawServer((socket) =>
      socket.write(`HTTP/1.1 307 Temporary Redirect\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect((await make().send(request(server.port))).status).toBe(307);
    expect(target.sockets).toHaveLength(0);
  });

  it('ignores 1xx before the answer', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const server = await rawServer((socket) => socket.write(early + early + OK));
    const answer = await make().send(request(server.port));
    expect(answer.status).toBe(200);
    expect(textOf(answer)).toBe('ok');
  });

  it('reads an answer without length until the connection ends', async () => {
    const server = await rawServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
    expect(textOf(await make().send(request(server.port)))).toBe('all of it');
  });

  it('reads 64 KiB of an endless answer, and ends the connection', async () => {
    const block = Buffer.alloc(16_384, 'x');
    let written = 0;
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write(block)) written += block.length;
      };
      socket.on('drain', more);
      more();
    });
    const { status, body } = await make().send(request(server.port));
    expect(status).toBe(200);
    expect(body).toHaveLength(65_536);
    await server.allClosed();
    expect(written).toBeLessThan(50_000_000);
  });

  it('reads exactly 64 KiB as a whole', async () => {
    const text = 'x'.repeat(65_536);
    const server = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 65536\r\n\r\n${text}`),
    );
    expect(textOf(await make().send(request(server.port)))).toBe(text);
  });

  it('fails by a timeout when no answer comes, and ends the connection', async () => {
    const controller = new AbortController();
    const server = await rawServer(() => {
      controller.abort();
    });
    const sending = make().send(request(server.port, { signal: controller.signal }));
    await expect(sending).rejects.toMatchObject({ kind: 'timeout' });
    await server.allClosed();
  });

  it('fails by a timeout when only 1xx comes', async () => {
    const controller = new AbortController();
    const made = make();
    const other = await rawServer((socket) => socket.write(OK));
    const written = new EventEmitter();
    const server = await rawServer((socket) =>
      socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => {
        written.emit('early');
      }),
    );
    const sending = made.send(request(server.port, { signal: controller.signal }));
    await once(written, 'early');
    // It takes longer than reading what is already written.
    await made.send(request(other.port));
    controller.abort();
    await expect(sending).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('takes the status of an answer whose body does not end, with the part that came', async () => {
    const controller = new AbortController();
    const made = make();
    const other = await rawServer((socket) => socket.write(OK));
    const written = new EventEmitter();
    const server = await rawServer((socket) =>
      socket.write('HTTP/1.1 429 Slow\r\nretry-after: 9\r\ncontent-length: 100\r\n\r\nhalf', () => {
        written.emit('half');
      }),
    );
    const sending = made.send(request(server.port, { signal: controller.signal }));
    await once(written, 'half');
    // It takes longer than reading what is already written.
    await made.send(request(other.port));
    controller.abort();
    const answer = await sending;
    expect(answer.status).toBe(429);
    expect(answer.header('retry-after')).toBe('9');
    expect(textOf(answer)).toBe('half');
    await server.allClosed();
  });

  it('takes the status of an answer whose connection breaks', async () => {
    const server = await rawServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf');
    });
    expect((await make().send(request(server.port))).status).toBe(200);
  });

  it('starts nothing when it is aborted before', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const sending = make().send(request(server.port, { signal: AbortSignal.abort() }));
    await expect(sending).rejects.toMatchObject({ kind: 'timeout' });
    expect(server.sockets).toHaveLength(0);
  });

  it('fails by a switch of protocols, and ends the connection', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';
    const server = await rawServer((socket) => socket.write(head));
    await expect(make().send(request(server.port))).rejects.toMatchObject({ name: 'RequestFailure' });
    await server.allClosed();
  });

  it('fails when the connection ends without an answer', async () => {
    const server = await rawServer((socket) => socket.destroy());
    await expect(make().send(request(server.port))).rejects.toMatchObject({ kind: 'connection' });
  });

  it('fails at a closed port, without a path in the message', async () => {
    const server = await rawServer(() => undefined);
    // Nothing listens at this address.
    const url = new URL(`http://127.0.0.2:${String(server.port)}/path-with-secret?token=secret`);
    const failure = await make().send(request(server.port, { url })).catch(String);
    expect(failure).toMatch(/The connection failed: .*ECONNREFUSED/);
    expect(failure).not.toMatch(/secret/);
  });

  it.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['an unknown version', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['a bad status', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a bad header', 'HTTP/1.1 200 OK\r\nbad header\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['headers of 20 KiB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`],
  ])('fails by %s', async (_name, bytes) => {
    const server = await rawServer((socket) => socket.write(bytes));
    const failure: unknown = await make()
      .send(request(server.port))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'RequestFailure', kind: 'invalid' });
    expect(String(failure)).toMatch(/no valid HTTP/);
    await server.allClosed();
  });
});

describe('a connection', () => {
  it('is used again after a small answer', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const made = requester();
    for (let count = 0; count < 10; count++) await made.send(request(server.port));
    // The first connection is not free yet while the first answer is reported.
    expect(server.sockets.length).toBeLessThanOrEqual(2);
  });

  it('is closed when it is idle, so that 100,000 endpoints do not keep one each', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const made = requester({ keepAliveMs: 1 });
    await made.send(request(server.port));
    await server.allClosed();
    expect((await made.send(request(server.port))).status).toBe(200);
  });

  it('opens for each request in flight', async () => {
    const waiting: (() => void)[] = [];
    const server = await rawServer((socket) => {
      waiting.push(() => socket.write(OK));
      if (waiting.length === 500) for (const answer of waiting) answer();
    });
    const made = requester();
    const answers = await Promise.all(Array.from({ length: 500 }, () => made.send(request(server.port))));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(server.sockets).toHaveLength(500);
  });

  it('is closed by close, also during a request', async () => {
    const made = requester();
    const server = await rawServer(() => {
      void made.close();
    });
    const sending = made.send(request(server.port)).catch((error: unknown) => error);
    expect(await sending).toMatchObject({ kind: 'connection' });
    await server.allClosed();
  });

  it('without a valid header is refused, and nothing is sent', async () => {
    const server = await rawServer((socket) => socket.write(OK));
    const headers = { 'x-bad': 'a\r\nx-injected: 1' };
    await expect(requester().send(request(server.port, { headers }))).rejects.toMatchObject({
      kind: 'invalid',
    });
    expect(server.received.join('')).toBe('');
  });
});
