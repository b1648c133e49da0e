import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems assign to outgoing connections: such a connection may not take the port while its server
 * restarts.
 */
const PORTS = { from: 20_000, to: 32_000 };
const ATTEMPTS = 50;

/** A free port of 127.0.0.1, for a server that will be stopped and started again. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    const probe = createServer();
    try {
      probe.listen(port, '127.0.0.1');
      await once(probe, 'listening');
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    } finally {
      probe.close();
    }
  }
}
