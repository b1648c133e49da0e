import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { EventReader, watched } from './fixtures.ts';
import { listening } from './listening.ts';

type OnHttp2Request = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

describe('on node:http', () => {
  it('answers HTTP/1.0, and events until the connection closes', async () => {
    const parts = watched();
    const base = new URL(await listening(createServer(parts.page.node)));
    const socket = connect(Number(base.port), base.hostname);
    socket.write('GET /events HTTP/1.0\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    while (!text.includes('event: state')) await once(socket, 'data');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).not.toMatch(/transfer-encoding/i);
    parts.page.close();
    await once(socket, 'end');
  });

  it.each(['TRACE', 'PROPFIND'])('refuses %s', async (method) => {
    const base = new URL(await listening(createServer(watched().page.node)));
    const [answer] = (await once(request({ ...where(base), method, path: '/state' }).end(), 'response')) as [
      IncomingMessage,
    ];
    expect([400, 405]).toContain(answer.statusCode);
    answer.resume();
  });

  it('does not name the library in the answer to an invalid request', async () => {
    const base = new URL(await listening(createServer(watched({ authorize: () => false }).page.node)));
    const [answer] = (await once(
      request({ ...where(base), method: 'TRACE', path: '/state' }).end(),
      'response',
    )) as [IncomingMessage];
    let text = '';
    for await (const part of answer.setEncoding('utf8')) text += String(part);
    expect(JSON.parse(text)).toEqual({ code: 'BAD_REQUEST', message: 'The request is not valid.' });
  });

  it.each([
    ['/../../etc/passwd', 404],
    ['/%2e%2e/%2e%2e/etc/passwd', 404],
    ['//evil.example/state', 200],
    ['http://evil.example/state?x=1', 200],
  ])('answers GET %s with %d', async (path, status) => {
    const base = new URL(await listening(createServer(watched().page.node)));
    const [answer] = (await once(request({ ...where(base), path }).end(), 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(status);
    answer.resume();
  });

  it('stops reading a body whose length is not known, and answers 413', async () => {
    const base = new URL(await listening(createServer(watched({ allowUpdate: true }).page.node)));
    const headers = { 'content-type': 'application/json', 'x-webhook-backpressure': '1' };
    const asked = request({ ...where(base), path: '/update', method: 'POST', headers });
    asked.on('error', () => undefined);
    const response = once(asked, 'response');
    asked.write(' '.repeat(40_000));
    asked.write(' '.repeat(40_000));
    // It is answered although the body goes on.
    const [answer] = (await response) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    asked.destroy();
  });

  it('lets a server close that has open pages', async () => {
    const { page, clock } = watched();
    const server = createServer(page.node);
    const reader = new EventReader(await fetch(`${await listening(server)}/ops/events`));
    await reader.next();
    const closed = once(server, 'close');
    server.close();
    clock.advance(1000);
    expect(await reader.next()).toMatchObject({ event: 'state' });
    expect(await reader.next()).toBeNull();
    await closed;
  });

  it('ends the connections of a page after a state, so that it cannot use them while the server closes', async () => {
    const { page, clock } = watched();
    const server = createServer(page.node);
    const base = new URL(await listening(server));
    const socket = connect(Number(base.port), base.hostname);
    const ended = once(socket, 'end');
    socket.resume().write('GET /ops/state HTTP/1.1\r\nHost: ops.example\r\n\r\n');
    await ended;

    const open = connect(Number(base.port), base.hostname);
    open.write('GET /ops/ HTTP/1.1\r\nHost: ops.example\r\n');
    await once(server, 'connection');
    const reader = new EventReader(await fetch(`${base.href}ops/events`));
    await reader.next();
    server.close();
    const closed = once(server, 'close');
    // A request that the closing server still gets.
    let text = '';
    open.on('data', (part) => (text += String(part))).write('\r\n');
    await once(open, 'end');
    expect(text).toMatch(/^Connection: close\r$/im);
    clock.advance(1000);
    await closed;
  });

  it('answers HTTP/2', async () => {
    const { page, clock } = watched();
    // Its requests and responses have the same methods.
    const server = createHttp2Server(page.node as unknown as OnHttp2Request);
    const session = connectHttp2(await listening(server as unknown as Server));
    const stream = session.request({ ':path': '/ops/events', 'x-user': 'ops' });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(200);
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    while (!text.includes('event: state')) await once(stream, 'data');
    clock.advance(1000);
    page.close();
    await once(stream, 'end');
    session.close();
  });

  it('leaves alone a response that was answered before', async () => {
    const { page, errors } = watched();
    const base = await listening(
      createServer((req, res) => {
        res.end('mine');
        page.node(req, res);
      }),
    );
    expect(await (await fetch(`${base}/state`)).text()).toBe('mine');
    expect(errors).toEqual([]);
  });

  it('takes a client that hangs up while it sends a body for no failure', async () => {
    const { page, errors } = watched({ allowUpdate: true });
    const server = createServer(page.node);
    const base = new URL(await listening(server));
    const socket = connect(Number(base.port), base.hostname);
    const asked = once(server, 'request') as Promise<[IncomingMessage]>;
    socket.write(
      'POST /ops/update HTTP/1.1\r\nHost: ops.example\r\nContent-Type: application/json\r\n' +
        'X-Webhook-Backpressure: 1\r\nContent-Length: 100\r\n\r\n{',
    );
    const [req] = await asked;
    // Its error comes before.
    const closed = new Promise((resolve) => req.once('close', resolve));
    socket.destroy();
    await closed;
    await new Promise(setImmediate);
    expect(errors).toEqual([]);
  });

  it('drops a page that reads too slowly', async () => {
    const { page, clock, intake } = watched();
    // Larger states fill the buffers of the connection sooner.
    intake.update({
      shed: Object.fromEntries(
        Array.from({ length: 5000 }, (_, place) => [`key ${String(place)}`.repeat(8), true]),
      ),
    });
    let closed = (): void => undefined;
    const hasClosed = new Promise<void>((resolve) => (closed = resolve));
    const server = createServer((req, res) => {
      res.once('close', closed);
      page.node(req, res);
    });
    const base = new URL(await listening(server));
    const asked = request({ ...where(base), path: '/events' }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    // It is never read.
    answer.socket.pause();
    for (let second = 0; second < 200; second += 1) {
      clock.advance(1000);
      await new Promise(setImmediate);
    }
    await hasClosed;
    answer.destroy();
  });
});

function where({ hostname, port }: URL): { hostname: string; port: string } {
  return { hostname, port };
}
