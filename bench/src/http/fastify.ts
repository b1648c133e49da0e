import type { AddressInfo } from 'node:net';
import underPressure from '@fastify/under-pressure';
import { fastify, type FastifyInstance } from 'fastify';
import { MINUTE_MS } from './servers.ts';

async function listen(server: FastifyInstance): Promise<{ port: number }> {
  server.post('/webhooks', (_request, reply) => reply.send('ok'));
  await server.listen({ host: '127.0.0.1', port: 0 });
  return server.server.address() as AddressInfo;
}

export const pass = {
  without: (): Promise<{ port: number }> => listen(fastify()),
  'under-pressure': async (): Promise<{ port: number }> => {
    const server = fastify();
    // The four that its documentation sets, at heights that the test does not reach: it measures, and never refuses.
    await server.register(underPressure, {
      maxEventLoopDelay: MINUTE_MS,
      maxHeapUsedBytes: 2 ** 33,
      maxRssBytes: 2 ** 33,
      maxEventLoopUtilization: 1.1,
    });
    return listen(server);
  },
};
