import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server of bytes: what it answers need not be HTTP. */
export interface RawServer {
  readonly port: number;
  /** Everything that each connection sent, in the order of the connections. */
  readonly received: string[];
  /** The connections, in their order. */
  readonly sockets: Socket[];
  readonly open: () => number;
  /** Resolves when no connection is open. */
  readonly allClosed: () => Promise<void>;
}

const HEAD_END = '\r\n\r\n';

/**
 * Calls `answer` for each request, when its headers and a body of known length are there.
 *
 * @param host - the address to listen on.
 */
export async function rawServer(
  answer: (socket: Socket, request: string) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<RawServer> {
  const received: string[] = [];
  const sockets: Socket[] = [];
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const index = sockets.push(socket) - 1;
    received[index] = '';
    let pending = '';
    open.add(socket);
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) server.emit('all-closed');
    });
    // A client that aborts resets the connection.
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received[index] = `${received[index] ?? ''}${String(chunk)}`;
      pending += String(chunk);
      for (let length = requestLength(pending); length > 0; length = requestLength(pending)) {
        const request = pending.slice(0, length);
        pending = pending.slice(length);
        answer(socket, request);
      }
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    sockets,
    open: () => open.size,
    allClosed: async () => {
      if (open.size > 0) await once(server, 'all-closed');
    },
  };
}

/** How long the first request is; 0 while it is not complete. */
function requestLength(text: string): number {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return 0;
  const bodyLength = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  const length = headEnd + HEAD_END.length + bodyLength;
  return text.length >= length ? length : 0;
}
