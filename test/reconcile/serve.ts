import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Serves a fake API, which is a function like fetch, on this machine. */
export async function serve(fake: typeof globalThis.fetch): Promise<{ server: Server; url: string }> {
  const server = createServer((req, res) => {
    void buffer(req).then(async (body) => {
      const { method = 'GET', url = '/', headers } = req;
      const given = await fake(`http://${headers.host ?? ''}${url}`, {
        method,
        headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
        ...(body.byteLength > 0 && { body }),
      });
      res.writeHead(given.status, Object.fromEntries(given.headers)).end(await given.text());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}
