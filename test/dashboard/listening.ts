import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    // Those of HTTP/2 have no such method.
    (server as Partial<Server>).closeAllConnections?.();
    server.close();
  }
});

/** The address of a server, which is closed after the test. */
export async function listening(server: Server): Promise<string> {
  servers.push(server);
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}
